/* Tests of src/engine/locks.c: what is said of each state, and of those who wait. */
#include "engine/locks.h"

#include "support/world.h"

#include "base/str.h"
#include "base/timefmt.h"
#include "engine/keeper.h"
#include "engine/stop.h"
#include "model/own.h"

#define NOW       SEC(1794830700) /* 2026-11-16T12:05:00Z */
#define T(minute) "'2026-11-16T12:" minute ":00Z'"

struct fixture {
    struct world w;
    struct store *maps, *policies, *events, *maintenances, *kured;
    struct arena arena;
    struct locks l;
    bool no_policies;
};

static void begin(struct fixture *f) {
    *f = (struct fixture){.arena = ARENA_INIT};
    world_init(&f->w);
    f->maps = store_new(&kind_config_map, f->w.pool);
    f->policies = store_new(&kind_policy, f->w.pool);
    f->events = store_new(&kind_event, f->w.pool);
    f->maintenances = store_new(&kind_maintenance, f->w.pool);
    f->kured = store_new(&kind_kured_lock, f->w.pool);
}

static void end(struct fixture *f) {
    store_free(f->maps);
    store_free(f->policies);
    store_free(f->events);
    store_free(f->maintenances);
    store_free(f->kured);
    world_done(&f->w);
    arena_done(&f->arena);
}

/* Of a kind that the world has no store for. */
static void put(struct fixture *f, struct store *s, const char *json) {
    _cleanup_free_ char *text = xstrdup(json);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct object *obj = object_new(store_kind(s));
    struct codec codec;
    struct err err = ERR_INIT;
    codec_init(&codec, f->w.pool);
    if (codec_json(&codec, store_kind(s)->type, view_of(text), obj, &err))
        fail_msg("%s in %s", err_msg(&err), text);
    codec_done(&codec);
    assert_true(store_put(s, obj));
}

/* The record, with ' for ", as the text in a ConfigMap. */
static void record(struct fixture *f, const char *policy, const char *json) {
    _cleanup_str_ struct str text = STR_INIT;
    for (const char *c = json; *c; c++)
        str_addf(&text, *c == '\'' ? "\\'" : "%c", *c);
    _cleanup_free_ char *map =
        xasprintf("{'metadata':{'namespace':'sys','name':'slipway-slots-%s','labels':{'" SLOTS_LABEL
                  "':'%s'}},'data':{'" SLOTS_KEY "':'%s'}}",
                  policy, policy, str_get(&text));
    put(f, f->maps, map);
}

#define SLOT(node, state) "{" SLOT_IN(node, state)
#define SLOT_IN(node, state)                                                                       \
    "'id':'slot:" node "','node':'" node "','uid':'u-" node                                        \
    "','operation':'Reboot','by':'fleetlock','state':'" state "','boot':'b1','since':" T(          \
        "01") ",'asked':" T("02") ",'granted':" T("03") ",'steady':" T("04") "}"
#define WISH(node)                                                                                 \
    "{'node':'" node                                                                               \
    "','operation':'Reboot','by':'fleetlock','since':" T("01") ",'asked':" T("04") "}"
#define RECORD(slots, waiting) "{'v':1,'fence':1,'slots':[" slots "],'waiting':[" waiting "]}"

struct node_is {
    const char *name, *boot, *ready, *labels, *condition;
    bool cordoned; /* for its holding */
};

static void node(struct fixture *f, const struct node_is *n) {
    _cleanup_free_ char *cordon =
        n->cordoned ? xasprintf(",'annotations':{'slipway.dev/cordon':'{\\'v\\':1,\\'before\\':"
                                "false,\\'holders\\':[{\\'id\\':\\'slot:%s\\'}]}'}",
                                n->name)
                    : xstrdup("");
    _cleanup_free_ char *json = xasprintf(
        "{'metadata':{'name':'%s','uid':'u-%s','labels':{%s}%s},'spec':{'unschedulable':%s},"
        "'status':{'nodeInfo':{'bootID':'%s'},'conditions':[{'type':'Ready','status':'%s',"
        "'reason':'KubeletSays','lastTransitionTime':" T("00") "}%s]}}",
        n->name, n->name, strna(n->labels), cordon, n->cordoned ? "true" : "false",
        n->boot ? n->boot : "b1", n->ready ? n->ready : "True", strna(n->condition));
    world_add(&f->w, &kind_node, json);
}

static const struct lock_row *look(struct fixture *f, const char *name) {
    struct locks_world w = {.maps = f->maps,
                            .nodes = f->w.nodes,
                            .policies = f->no_policies ? NULL : f->policies,
                            .events = f->events,
                            .maintenances = f->maintenances,
                            .rivals = {f->kured, f->w.pods},
                            .now = NOW};
    locks_take(&w, &f->arena, &f->l);
    for (size_t i = 0; i < f->l.n; i++)
        if (streq(f->l.rows[i].node, name))
            return &f->l.rows[i];
    fail_msg("no row about %s", name);
    return NULL;
}

/* --- those who hold one --- */

static void each_state_of_a_slot(void **state) {
    (void)state;
    static const struct {
        const char *record;
        struct node_is node;
        enum lock_mood mood;
        const char *why;
    } cases[] = {
        {RECORD(SLOT("w1", "taken"), ""), {0}, LOCK_GOES_ON, "is about to be cordoned and drained"},
        {RECORD(SLOT("w1", "taken"), ""), {.cordoned = true}, LOCK_GOES_ON, "is being drained"},
        {RECORD(SLOT("w1", "taken"), ""),
         {.cordoned = true,
          .condition = ",{'type':'DrainInProgress','status':'False','reason':'SlipwayDrainEnded',"
                       "'message':'no','lastTransitionTime':" T("02") "}"},
         LOCK_STUCK,
         "its drain has ended: no; it is begun again after a minute"},
        /* of an earlier one */
        {RECORD(SLOT("w1", "taken"), ""),
         {.cordoned = true,
          .condition = ",{'type':'DrainInProgress','status':'False','reason':'SlipwayDrainEnded',"
                       "'message':'no','lastTransitionTime':" T("00") "}"},
         LOCK_GOES_ON,
         "is being drained"},
        {RECORD(SLOT("w1", "drained"), ""),
         {.cordoned = true},
         LOCK_WAITS,
         "is drained, and told that it may go when it asks, as it last did at 12:02 UTC: put back "
         "at 12:14 UTC if it does not"},
        /* nothing is known of its questions since it got its slot */
        {RECORD("{'id':'slot:w1','node':'w1','uid':'u-w1','operation':'Reboot','by':'fleetlock',"
                "'state':'drained','boot':'b1','since':" T("01") ",'asked':" T("01") "}",
                ""),
         {.cordoned = true},
         LOCK_WAITS,
         "is drained, and told that it may go when it asks: put back at 12:13 UTC if it does not"},
        {RECORD("{'unsure':true," SLOT_IN("w1", "drained"), ""),
         {.cordoned = true},
         LOCK_WAITS,
         "may have been told to go before its record was lost: waits for its reboot, its report "
         "that it is steady, or its question"},
        {RECORD(SLOT("w1", "drained"), ""),
         {0},
         LOCK_GOES_ON,
         "somebody has uncordoned it since it was drained: it is about to be put back"},
        {RECORD(SLOT("w1", "drained"), ""),
         {.cordoned = true, .boot = "b2"},
         LOCK_GOES_ON,
         "has rebooted since it was drained: it is about to be put back"},
        {RECORD(SLOT("w1", "granted"), ""),
         {.cordoned = true},
         LOCK_WAITS,
         "was told at 12:03 UTC that it may go: waits for its reboot, or its report that it is "
         "steady"},
        {RECORD(SLOT("w1", "granted"), ""),
         {0},
         LOCK_WAITS,
         "was told at 12:03 UTC that it may go: waits for its reboot, or its report that it is "
         "steady; somebody has uncordoned it since"},
        {RECORD(SLOT("w1", "granted"), ""),
         {.cordoned = true, .ready = "Unknown"},
         LOCK_WAITS,
         "was told at 12:03 UTC that it may go, and is not Ready (KubeletSays) since 12:00 UTC: "
         "waits for it to come back"},
        {RECORD(SLOT("w1", "granted"), ""),
         {.cordoned = true, .ready = "False", .boot = "b2"},
         LOCK_WAITS,
         "has rebooted, and is not Ready (KubeletSays) since 12:00 UTC: put back when it is"},
        {RECORD(SLOT("w1", "granted"), ""),
         {.cordoned = true, .boot = "b2"},
         LOCK_GOES_ON,
         "has rebooted and is Ready: it is about to be put back"},
        {RECORD(SLOT("w1", "steady"), ""),
         {.cordoned = true},
         LOCK_GOES_ON,
         "has reported at 12:04 UTC without a reboot: free at 12:09 UTC"},
        {RECORD(SLOT("w1", "steady"), ""),
         {.cordoned = true, .boot = "b2"},
         LOCK_GOES_ON,
         "has rebooted and reported: it is about to be put back"},
        {RECORD(SLOT("w1", "steady"), ""),
         {.cordoned = true, .boot = "b2", .ready = "False"},
         LOCK_WAITS,
         "has reported that it is steady, and is not Ready (KubeletSays) since 12:00 UTC: put back "
         "when it is"},
        {RECORD(SLOT("w1", "returned"), ""),
         {.cordoned = true},
         LOCK_GOES_ON,
         "is let go: it is about to be uncordoned"},
        {RECORD(SLOT("w1", "returned"), ""),
         {0},
         LOCK_GOES_ON,
         "is put back: the slot is about to be free"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        struct node_is n = cases[i].node;
        begin(&f);
        n.name = "w1";
        node(&f, &n);
        record(&f, "default", cases[i].record);
        const struct lock_row *row = look(&f, "w1");
        assert_string_equal(row->why, cases[i].why);
        assert_int_equal(row->mood, cases[i].mood);
        assert_string_equal(row->state, slot_state_word(row->slot->state));
        assert_string_equal(row->policy->name, "default");
        assert_int_equal(locks_drains(&f.l), row->slot->state == SLOT_TAKEN);
        end(&f);
    }
}

static void nodes_that_are_gone(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    node(&f, &(struct node_is){.name = "w1"});
    record(&f, "default",
           RECORD("{'id':'h','node':'w1','uid':'older','operation':'Reboot','by':'x','state':"
                  "'taken'}," SLOT("w2", "granted"),
                  WISH("w3")));
    assert_string_equal(
        look(&f, "w1")->why,
        "the node that holds it is gone, and another has its name: it is about to be free");
    assert_string_equal(look(&f, "w2")->why, "its node is gone: it is about to be free");
    assert_string_equal(look(&f, "w3")->why, "its node is gone: it is about to be forgotten");
    end(&f);
}

#define OF_MAINTENANCE(state)                                                                      \
    "{'id':'slot:w1','node':'w1','uid':'u-w1','operation':'Upgrade','by':'maintenance/m1',"        \
    "'state':'" state "','boot':'b1','since':" T("01") ",'granted':" T("03") "}"

/* Nobody asks for these: an object does. */
static void of_a_maintenance(void **state) {
    (void)state;
    static const struct {
        const char *record, *ready, *why;
    } cases[] = {
        {RECORD(OF_MAINTENANCE("drained"), ""), "True",
         "is drained: the Upgrade of Maintenance m1 is about to begin"},
        {RECORD(OF_MAINTENANCE("granted"), ""), "True",
         "is ready for the Upgrade of Maintenance m1 since 12:03 UTC: waits for its end"},
        {RECORD(OF_MAINTENANCE("granted"), ""), "False",
         "is ready for the Upgrade of Maintenance m1 since 12:03 UTC, and is not Ready "
         "(KubeletSays) since 12:00 UTC: waits for it to come back"},
        {RECORD(SLOT("w2", "taken"),
                "{'node':'w1','operation':'Upgrade','by':'maintenance/m1','asked':"
                "'2026-11-15T08:00:00Z'}"),
         "True", "another holds the only slot: w2"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        begin(&f);
        node(&f, &(struct node_is){.name = "w1", .cordoned = true, .ready = cases[i].ready});
        record(&f, "default", cases[i].record);
        assert_string_equal(look(&f, "w1")->why, cases[i].why);
        end(&f);
    }
    assert_string_equal(locks_maintenance("maintenance/m1"), "m1");
    assert_null(locks_maintenance("fleetlock"));
}

/* It looks as healthy as one that is at work. */
static void of_one_that_is_halted(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    node(&f, &(struct node_is){.name = "w1", .cordoned = true});
    record(&f, "default", RECORD(OF_MAINTENANCE("granted"), ""));
    put(&f, f.maintenances,
        "{'metadata':{'name':'m1'},'spec':{'node':'w1','operation':'Upgrade'},'status':{'phase':"
        "'Halted','reason':'OperationFailed','since':" T(
            "04") ",'blocker':{'code':'OperationFailed','message':'the command has ended with "
                  "status 3'}}}");
    assert_string_equal(look(&f, "w1")->why,
                        "Maintenance m1 is Halted since 12:04 UTC (OperationFailed: the command "
                        "has ended with status 3): 'slipway retry', skip or abort maintenance/m1");
    assert_int_equal(look(&f, "w1")->mood, LOCK_STUCK);
    put(&f, f.maintenances,
        "{'metadata':{'name':'m1','annotations':{'" OWN_WORD_ANNOTATION "':'abort'}},'spec':{"
        "'node':'w1','operation':'Upgrade'},'status':{'phase':'Halted','reason':'NotBack','since'"
        ":" T("04") "}}");
    assert_string_equal(look(&f, "w1")->why,
                        "Maintenance m1 is Halted since 12:04 UTC (NotBack), and somebody has said "
                        "'abort': that is heard when its node is Ready");
    assert_int_equal(look(&f, "w1")->mood, LOCK_WAITS);
    end(&f);
}

/* Events come later. */
static void of_one_whose_maintenance_says_what_blocks_it(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    node(&f, &(struct node_is){.name = "w1", .cordoned = true});
    record(&f, "default", RECORD(OF_MAINTENANCE("taken"), ""));
    put(&f, f.maintenances,
        "{'metadata':{'name':'m1'},'spec':{'node':'w1','operation':'Drain'},'status':{'phase':"
        "'Draining','blocker':{'code':'PDBUnsatisfiable','object':'shop/web','message':'it lets "
        "none go'}}}");
    assert_string_equal(look(&f, "w1")->why,
                        "is being drained: PDBUnsatisfiable shop/web: it lets none go");
    assert_int_equal(look(&f, "w1")->mood, LOCK_STUCK);
    end(&f);
}

/* More than may be out are, and one after the other is drained. */
static void of_those_that_were_taken_over(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    static const char *const names[] = {"w1", "w2"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        _cleanup_free_ char *json =
            xasprintf("{'metadata':{'name':'%s','uid':'u-%s','annotations':{'" SEED_MARK
                      "':'" SEED_REBOOTING "'}},'spec':{'unschedulable':true},'status':{"
                      "'nodeInfo':{'bootID':'b1'}}}",
                      names[i], names[i]);
        world_add(&f.w, &kind_node, json);
    }
    record(&f, "default", RECORD(SLOT("w1", "taken") "," SLOT("w2", "taken"), ""));
    assert_string_equal(look(&f, "w1")->why, "is about to be cordoned and drained");
    assert_string_equal(
        look(&f, "w2")->why,
        "was cordoned by another manager, and waits to be drained: first comes back "
        "w1");
    assert_int_equal(look(&f, "w2")->mood, LOCK_WAITS);
    end(&f);
}

static void of_one_that_is_paused(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    node(&f, &(struct node_is){.name = "w1", .cordoned = true});
    record(&f, "default", RECORD(OF_MAINTENANCE("taken"), ""));
    put(&f, f.maintenances,
        "{'metadata':{'name':'m1'},'spec':{'node':'w1','operation':'Upgrade','paused':true},"
        "'status':{'phase':'Draining'}}");
    assert_string_equal(look(&f, "w1")->why,
                        "Maintenance m1 is paused: its drain evicts no pod until 'slipway resume "
                        "maintenance/m1'");
    end(&f);
}

static void event(struct fixture *f, const char *name, const char *reason, const char *minute,
                  const char *message) {
    _cleanup_free_ char *json = xasprintf(
        "{'metadata':{'namespace':'default','name':'%s'},'reason':'%s','message':'%s',"
        "'involvedObject':{'kind':'Node','name':'w1'},'lastTimestamp':'2026-11-16T12:%s:00Z'}",
        name, reason, message, minute);
    put(f, f->events, json);
}

/* What needs help comes first; what was taken back or is of an earlier drain is left out. */
static void what_a_drain_waits_for(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    node(&f, &(struct node_is){.name = "w1", .cordoned = true});
    record(&f, "default", RECORD(SLOT("w1", "taken"), ""));
    event(&f, "a", "DrainBlocked", "02", "PDBNoBudget shop/web: needs 2, has 2");
    event(&f, "b", "DrainBlocked", "00", "LastReplica x/earlier: old");
    event(&f, "c", "DrainBlocked", "02", "AdmissionDenied x/p: no");
    event(&f, "d", "DrainUnblocked", "03", "AdmissionDenied");
    const struct lock_row *row = look(&f, "w1");
    assert_string_equal(row->why, "is being drained: PDBNoBudget shop/web: needs 2, has 2");
    assert_int_equal(row->mood, LOCK_GOES_ON);
    event(&f, "e", "DrainBlocked", "03", "PDBUnsatisfiable shop/db: never");
    event(&f, "f", "DrainBlocked", "03", "PDBUnsatisfiable shop/a: never");
    row = look(&f, "w1");
    assert_string_equal(row->why, "is being drained: PDBUnsatisfiable shop/a: never; "
                                  "PDBUnsatisfiable shop/db: never; and 1 more");
    assert_int_equal(row->mood, LOCK_STUCK);
    end(&f);
}

/* What shows it is not on the Node. */
static void another_manager_is_at_work(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    node(&f, &(struct node_is){.name = "w1"});
    node(&f, &(struct node_is){.name = "w2"});
    record(&f, "default", RECORD(SLOT("w1", "taken"), WISH("w2")));
    assert_string_equal(look(&f, "w1")->why, "is about to be cordoned and drained");
    put(&f, f.kured,
        "{'metadata':{'namespace':'a','name':'k','annotations':{'weave.works/kured-node-lock':"
        "'{\\'nodeID\\':\\'w1\\'}'}}}");
    world_add(&f.w, &kind_pod,
              "{'metadata':{'namespace':'a','name':'p','labels':{'upgrade.cattle.io/plan':'k3s'}},"
              "'spec':{'nodeName':'w2'},'status':{'phase':'Running'}}");
    const struct lock_row *row = look(&f, "w1");
    assert_string_equal(row->why, "is about to be cordoned and drained; and kured reboots it");
    assert_int_equal(row->mood, LOCK_WAITS);
    assert_non_null(strstr(look(&f, "w2")->why, "; and system-upgrade-controller upgrades it"));
    end(&f);
}

/* --- those who wait --- */

static void the_built_in_policy_has_one_slot(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    node(&f, &(struct node_is){.name = "w1", .cordoned = true});
    node(&f, &(struct node_is){.name = "w2"});
    record(&f, "default", RECORD(SLOT("w1", "taken"), WISH("w2")));
    const struct lock_row *row = look(&f, "w2");
    assert_string_equal(row->why, "another holds the only slot: w1");
    assert_string_equal(row->state, "waits");
    assert_int_equal(row->mood, LOCK_WAITS);
    assert_true(row->policy->limited);
    assert_int_equal(row->policy->limit, 1);
    assert_int_equal(row->policy->held, 1);
    assert_int_equal(row->policy->waiting, 1);
    f.no_policies = true;
    row = look(&f, "w2");
    assert_string_equal(row->why, "others hold slots: w1");
    assert_false(row->policy->limited);
    end(&f);
}

static void a_slot_is_free(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    node(&f, &(struct node_is){.name = "w2"});
    record(&f, "default", RECORD("", WISH("w2")));
    assert_string_equal(look(&f, "w2")->why, "a slot is free: it is about to get it");
    assert_int_equal(look(&f, "w2")->mood, LOCK_GOES_ON);
    end(&f);
}

/* What the controller has written beside them; others that hold the slots are said before. */
static void a_gate_that_is_shut(void **state) {
    (void)state;
#define GATE(code) "'wait':{'code':'" code "','object':'x/pvc','message':'longhorn: it is here'}"
#define GATED(text, code)                                                                          \
    "{'node':'w2','operation':'Reboot','by':'fleetlock','since':" T("01") text "," GATE(code) "}"
#define GATED_SLOT(state_, code)                                                                   \
    "{'id':'slot:w2','node':'w2','uid':'u-w2','operation':'Reboot','by':'fleetlock','state':"      \
    "'" state_ "','boot':'b1','since':" T("01") ",'granted':" T("03") "," GATE(code) "}"
    static const struct {
        const char *record, *why;
        enum lock_mood mood;
        bool cordoned;
    } cases[] = {
        {RECORD("", GATED(",'asked':" T("04"), "LastReplica")),
         "LastReplica x/pvc: longhorn: it is here", LOCK_STUCK, false},
        {RECORD("", GATED(",'asked':" T("04"), "StorageNotOkToStop")),
         "StorageNotOkToStop x/pvc: longhorn: it is here", LOCK_WAITS, false},
        {RECORD("", GATED(",'asked':" T("04"), "FromTomorrow")),
         "FromTomorrow x/pvc: longhorn: it is here", LOCK_WAITS, false},
        {RECORD(SLOT("w1", "taken"), GATED(",'asked':" T("04"), "LastReplica")),
         "another holds the only slot: w1; and LastReplica x/pvc: longhorn: it is here", LOCK_WAITS,
         false},
        {RECORD(SLOT("w1", "taken"), GATED(",'asked':" T("04"), "StorageNotOkToStop")),
         "another holds the only slot: w1", LOCK_WAITS, false},
        {RECORD(GATED_SLOT("taken", "CordonFailed"), ""),
         "holds a slot, and waits: CordonFailed x/pvc: longhorn: it is here", LOCK_STUCK, false},
        {RECORD(GATED_SLOT("taken", "Forbidden"), ""),
         "holds a slot, and waits: Forbidden x/pvc: longhorn: it is here", LOCK_STUCK, true},
        {RECORD(GATED_SLOT("drained", "LastReplica"), ""),
         "is drained, and may not go yet: LastReplica x/pvc: longhorn: it is here", LOCK_STUCK,
         true},
        {RECORD(GATED_SLOT("returned", "StorageNotOkToStop"), ""),
         "is put back, and keeps its slot: StorageNotOkToStop x/pvc: longhorn: it is here",
         LOCK_WAITS, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        begin(&f);
        node(&f, &(struct node_is){.name = "w1"});
        node(&f, &(struct node_is){.name = "w2", .cordoned = cases[i].cordoned});
        record(&f, "default", cases[i].record);
        assert_string_equal(look(&f, "w2")->why, cases[i].why);
        assert_int_equal(look(&f, "w2")->mood, cases[i].mood);
        end(&f);
    }
}

static void its_own_slot_is_being_put_back(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    node(&f, &(struct node_is){.name = "w1"});
    record(&f, "default", RECORD(SLOT("w1", "returned"), WISH("w1")));
    look(&f, "w1");
    assert_int_equal(f.l.n, 2);
    assert_non_null(f.l.rows[0].slot);
    assert_string_equal(f.l.rows[1].why, "the slot of its last time is being put back");
    end(&f);
}

#define POLICY_WITH(meta, spec)                                                                    \
    "{'metadata':{" meta "},'spec':{'nodeSelector':{'matchLabels':{'pool':'a'}}," spec "}}"
#define POLICY(name, spec)                                                                         \
    POLICY_WITH("'name':'" name "','finalizers':['slipway.dev/policy']", spec)

static void what_a_policy_says(void **state) {
    (void)state;
    static const struct {
        const char *policy, *slots, *labels, *why;
    } cases[] = {
        {POLICY("p", "'maxUnavailable':2"), SLOT("a1", "taken"), "'pool':'a'",
         "a slot is free: it is about to get it"},
        {POLICY_WITH("'name':'p'", "'maxUnavailable':2"), SLOT("a1", "taken"), "'pool':'a'",
         "policy p has no finalizer, without which nobody gets a slot of it: the log of the "
         "controller that leads says why"},
        {POLICY_WITH("'name':'p'", "'maxUnavailable':1"), SLOT("a1", "taken"), "'pool':'a'",
         "policy p has no finalizer, without which nobody gets a slot of it: the log of the "
         "controller that leads says why"},
        {POLICY("p", "'maxUnavailable':2"), SLOT("a1", "taken") "," SLOT("a2", "taken"),
         "'pool':'a'", "others hold all 2 slots: a1, a2"},
        /* of four nodes */
        {POLICY("p", "'maxUnavailable':'50%'"), SLOT("a1", "taken") "," SLOT("a2", "taken"),
         "'pool':'a'", "others hold all 2 slots: a1, a2"},
        {POLICY("p", "'maxUnavailable':2"), "", "'pool':'b'",
         "policy p has not got the node any more"},
        {POLICY("q", "'maxUnavailable':2"), "", "'pool':'a'",
         "there is no policy p any more: nobody gets a slot of it"},
        {POLICY("p", "'maxUnavailable':3,'maxZones':1"), SLOT("a1", "taken"),
         "'pool':'a','topology.kubernetes.io/zone':'z2'",
         "nodes of as many zones as may be are out: z1"},
        {POLICY("p", "'maxUnavailable':3"), SLOT("a1", "taken"),
         "'pool':'a','node-role.kubernetes.io/control-plane':''",
         "of the control plane one goes at a time, and a1 is out or down"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        _cleanup_free_ char *text =
            xasprintf("{'v':1,'fence':1,'slots':[%s],'waiting':[" WISH("w2") "]}", cases[i].slots);
        begin(&f);
        node(&f, &(struct node_is){.name = "a1",
                                   .labels = "'pool':'a','topology.kubernetes.io/zone':'z1',"
                                             "'node-role.kubernetes.io/control-plane':''"});
        node(&f, &(struct node_is){.name = "a2", .labels = "'pool':'a'"});
        node(&f, &(struct node_is){.name = "a3", .labels = "'pool':'a'"});
        node(&f, &(struct node_is){.name = "w2", .labels = cases[i].labels});
        put(&f, f.policies, cases[i].policy);
        record(&f, "p", text);
        assert_string_equal(look(&f, "w2")->why, cases[i].why);
        end(&f);
    }
}

/* Nodes that are down count, but for the one that asks. */
static void nodes_that_are_down_take_slots(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    node(&f, &(struct node_is){.name = "a1", .labels = "'pool':'a'", .ready = "False"});
    node(&f, &(struct node_is){.name = "b1", .labels = "'pool':'b'", .ready = "False"});
    node(&f, &(struct node_is){.name = "w2", .labels = "'pool':'a'"});
    put(&f, f.policies, POLICY("p", "'maxUnavailable':1"));
    record(&f, "p", RECORD("", WISH("w2") "," WISH("a1")));
    assert_string_equal(look(&f, "w2")->why, "nodes that are down count for the only slot: a1");
    assert_string_equal(look(&f, "a1")->why, "a slot is free: it is about to get it");
    end(&f);
}

static void one_who_has_not_asked_for_long(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    node(&f, &(struct node_is){.name = "w1", .cordoned = true});
    node(&f, &(struct node_is){.name = "w2"});
    record(&f, "default",
           RECORD(SLOT("w1", "taken"), "{'node':'w2','operation':'Reboot','by':'x','since':"
                                       "'2026-11-15T23:00:00Z','asked':'2026-11-15T23:59:00Z'}"));
    assert_string_equal(look(&f, "w2")->why,
                        "another holds the only slot: w1; it last asked at 2026-11-15 23:59 UTC, "
                        "and is forgotten at 00:29 UTC");
    end(&f);
}

/* --- records --- */

static void what_cannot_be_read_is_a_row(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    record(&f, "b", "{'v':2}");
    record(&f, "c", "nonsense");
    record(&f, "a", RECORD(SLOT("w2", "taken") "," SLOT("w1", "taken"), WISH("w0")));
    look(&f, "w1");
    assert_int_equal(f.l.n_policies, 3);
    assert_int_equal(f.l.n, 5);
    static const char *const order[] = {"w1", "w2", "w0", "", ""};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        assert_string_equal(f.l.rows[i].node, order[i]);
    assert_string_equal(f.l.rows[3].state, "unreadable");
    assert_string_equal(f.l.rows[3].why,
                        "ConfigMap sys/slipway-slots-b: the record of slots is of version 2, this "
                        "program knows version 1; a newer release wrote it: use that one");
    assert_string_equal(f.l.rows[4].why,
                        "ConfigMap sys/slipway-slots-c: this is no record of slots; nobody gets a "
                        "slot of it until it is mended");
    assert_int_equal(f.l.rows[3].mood, LOCK_STUCK);
    assert_non_null(f.l.policies[1].problem);
    assert_null(f.l.policies[0].problem);
    end(&f);
}

static const char *said(struct fixture *f, const char *record_text, bool cordoned) {
    record(f, "default", record_text);
    node(f, &(struct node_is){.name = "w1", .cordoned = cordoned});
    const struct lock_row *row = look(f, "w1");
    assert_int_equal(row->mood, LOCK_WAITS);
    return row->why;
}

/* It has the label of a record and is none; each row knows that nothing is begun. */
static void everything_is_paused(void **state) {
    (void)state;
    static const struct {
        const char *record;
        bool cordoned;
        const char *why;
    } cases[] = {
        {RECORD(SLOT("w1", "taken"), ""), false, "everything is paused: it is not drained"},
        {RECORD(SLOT("w1", "taken"), ""), true, "everything is paused: its drain evicts no pod"},
        {RECORD(SLOT("w1", "drained"), ""), true,
         "is drained, and everything is paused: it is not told that it may go"},
        {RECORD(SLOT("w1", "granted"), ""), true,
         "was told at 12:03 UTC that it may go: waits for its reboot, or its report that it is "
         "steady"},
        {RECORD("", WISH("w1")), false, "everything is paused: nobody gets a slot"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        begin(&f);
        put(&f, f.maps,
            "{'metadata':{'namespace':'sys','name':'" STOP_MAP "','labels':{'" SLOTS_LABEL
            "':''}},'data':{'" STOP_KEY "':'{}'}}");
        assert_string_equal(said(&f, cases[i].record, cases[i].cordoned), cases[i].why);
        assert_int_equal(f.l.n_policies, 1);
        assert_int_equal(f.l.n, 1);
        end(&f);
    }
}

static void there_is_nothing(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    locks_take(&(struct locks_world){.maps = f.maps, .nodes = f.w.nodes, .now = NOW}, &f.arena,
               &f.l);
    assert_int_equal(f.l.n, 0);
    assert_int_equal(f.l.n_policies, 0);
    assert_false(locks_drains(&f.l));
    end(&f);
}

static void who_leads(void **state) {
    (void)state;
    struct lease l = {.holder = "pod-1", .duration = 15, .renewed = NOW};
    assert_true(locks_leads(&l, NOW));
    assert_true(locks_leads(&l, NOW + SEC(74))); /* clocks differ */
    assert_false(locks_leads(&l, NOW + SEC(75)));
    l.duration = ABSENT32;
    assert_true(locks_leads(&l, NOW + SEC(74)));
    l.holder = "";
    assert_false(locks_leads(&l, NOW));
}

/* It holds its slot, and nobody can tell who else holds it cordoned. */
static void one_that_cannot_be_cordoned(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    record(&f, "p", RECORD(SLOT("w1", "taken"), ""));
    world_add(&f.w, &kind_node,
              "{'metadata':{'name':'w1','uid':'u-w1','annotations':{'slipway.dev/cordon':"
              "'{\\'v\\':99}'}},'status':{'nodeInfo':{'bootID':'b1'}}}");
    const struct lock_row *row = look(&f, "w1");
    assert_int_equal(row->mood, LOCK_STUCK);
    assert_non_null(strstr(row->why, "cannot be cordoned: its annotation slipway.dev/cordon"));
    end(&f);
}

/* The same that the controller goes by: who is out for another policy counts, too. */
static void who_is_out_for_another_policy_stands_in_the_way(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
#define CONTROL "'pool':'a','node-role.kubernetes.io/control-plane':''"
    node(&f, &(struct node_is){.name = "a1", .cordoned = true, .labels = "'pool':'a'"});
    node(&f, &(struct node_is){.name = "a2", .labels = "'pool':'a'"});
    node(&f, &(struct node_is){.name = "c1", .labels = CONTROL});
    node(&f, &(struct node_is){.name = "c9",
                               .cordoned = true,
                               .labels = "'node-role.kubernetes.io/control-plane':''"});
    put(&f, f.policies, POLICY("p", "'maxUnavailable':1"));
    record(&f, "old", RECORD(SLOT("a1", "granted"), ""));
    record(&f, "p", RECORD("", WISH("a1") "," WISH("a2")));
    look(&f, "a2");
    for (size_t i = 0; i < f.l.n; i++)
        if (f.l.rows[i].wish)
            assert_string_equal(f.l.rows[i].why,
                                streq(f.l.rows[i].wish->node, "a1")
                                    ? "the node is out for policy old itself"
                                    : "nodes that are out for another policy count for the only "
                                      "slot: a1");
    end(&f);
    begin(&f);
    node(&f, &(struct node_is){.name = "c1", .labels = CONTROL});
    node(&f, &(struct node_is){.name = "c9",
                               .cordoned = true,
                               .labels = "'node-role.kubernetes.io/control-plane':''"});
    put(&f, f.policies, POLICY("p", "'maxUnavailable':1"));
    record(&f, "old", RECORD(SLOT("c9", "granted"), ""));
    record(&f, "p", RECORD("", WISH("c1")));
    look(&f, "c1");
    for (size_t i = 0; i < f.l.n; i++)
        if (f.l.rows[i].wish)
            assert_string_equal(f.l.rows[i].why,
                                "of the control plane one goes at a time, and c9 is out or down");
    end(&f);
}

/* As the controller counts it: by the cordon, where no record of that Slipway tells. */
static void who_is_cordoned_for_another_policy_stands_in_the_way(void **state) {
    static const struct {
        const char *id, *why;
    } cases[] = {
        {"slot:sys/old:1", "nodes that are out for another policy count for the only slot: a1"},
        {"slot:else/p:1", "nodes that are out for another policy count for the only slot: a1"},
        {"slot:sys/p:1", "a slot is free: it is about to get it"}, /* left behind */
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        begin(&f);
        _cleanup_free_ char *a1 = xasprintf(
            "{'metadata':{'name':'a1','uid':'u-a1','labels':{'pool':'a'},'annotations':{"
            "'slipway.dev/cordon':'{\\'v\\':1,\\'before\\':false,\\'holders\\':[{\\'id\\':"
            "\\'%s\\'}]}'}},'spec':{'unschedulable':true},'status':{'conditions':[{'type':'Ready',"
            "'status':'True'}]}}",
            cases[i].id);
        world_add(&f.w, &kind_node, a1);
        node(&f, &(struct node_is){.name = "a2", .labels = "'pool':'a'"});
        put(&f, f.policies, POLICY("p", "'maxUnavailable':1"));
        record(&f, "old", "{'v':2}");
        record(&f, "p", RECORD("", WISH("a2")));
        assert_string_equal(look(&f, "a2")->why, cases[i].why);
        end(&f);
    }
}

/* Its controller knows nothing of that record, and goes by the cordons. */
static void a_record_of_another_slipway_is_not_counted(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    node(&f, &(struct node_is){.name = "a1", .labels = "'pool':'a'"});
    node(&f, &(struct node_is){.name = "a2", .labels = "'pool':'a'"});
    put(&f, f.policies, POLICY("p", "'maxUnavailable':1"));
    put(&f, f.maps,
        "{'metadata':{'namespace':'else','name':'slipway-slots-p','labels':{'" SLOTS_LABEL
        "':'p'}},'data':{'" SLOTS_KEY "':'{\\'v\\':1,\\'fence\\':1,\\'slots\\':[{\\'id\\':"
        "\\'slot:else/p:1\\',\\'node\\':\\'a1\\',\\'uid\\':\\'u-a1\\',\\'operation\\':"
        "\\'Reboot\\',\\'by\\':\\'fleetlock\\',\\'state\\':\\'taken\\',\\'boot\\':\\'b1\\',"
        "\\'since\\':\\'2026-11-16T12:01:00Z\\'}]}'}}");
    record(&f, "p", RECORD("", WISH("a2")));
    assert_string_equal(look(&f, "a2")->why, "a slot is free: it is about to get it");
    assert_string_equal(look(&f, "a1")->state, "taken");
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_state_of_a_slot),
        cmocka_unit_test(another_manager_is_at_work),
        cmocka_unit_test(nodes_that_are_gone),
        cmocka_unit_test(of_a_maintenance),
        cmocka_unit_test(of_one_that_is_halted),
        cmocka_unit_test(of_one_whose_maintenance_says_what_blocks_it),
        cmocka_unit_test(of_those_that_were_taken_over),
        cmocka_unit_test(of_one_that_is_paused),
        cmocka_unit_test(what_a_drain_waits_for),
        cmocka_unit_test(the_built_in_policy_has_one_slot),
        cmocka_unit_test(a_slot_is_free),
        cmocka_unit_test(a_gate_that_is_shut),
        cmocka_unit_test(its_own_slot_is_being_put_back),
        cmocka_unit_test(who_is_out_for_another_policy_stands_in_the_way),
        cmocka_unit_test(who_is_cordoned_for_another_policy_stands_in_the_way),
        cmocka_unit_test(a_record_of_another_slipway_is_not_counted),
        cmocka_unit_test(what_a_policy_says),
        cmocka_unit_test(nodes_that_are_down_take_slots),
        cmocka_unit_test(one_who_has_not_asked_for_long),
        cmocka_unit_test(what_cannot_be_read_is_a_row),
        cmocka_unit_test(everything_is_paused),
        cmocka_unit_test(there_is_nothing),
        cmocka_unit_test(who_leads),
        cmocka_unit_test(one_that_cannot_be_cordoned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests of src/engine/cordon.c. */
#include "engine/cordon.h"

#include "support/world.h"

#include "base/json.h"
#include "base/str.h"
#include "base/timefmt.h"

struct fixture {
    struct world world;
    struct arena arena;
    struct cordon cordon;
    const char *text;
    const struct node *node;
};

static void look(struct fixture *f, const char *json) {
    world_init(&f->world);
    f->arena = ARENA_INIT;
    f->node = world_add(&f->world, &kind_node, json);
    cordon_of(f->node, &f->arena, &f->cordon);
    f->text = cordon_text(&f->cordon, &f->arena);
}

static void done(struct fixture *f) {
    arena_done(&f->arena);
    world_done(&f->world);
}

static void a_free_node_has_no_owner(void **state) {
    (void)state;
    struct fixture f;
    look(&f, "{'metadata':{'name':'a'}}");
    assert_int_equal(f.cordon.owner, CORDON_NONE);
    assert_string_equal(f.text, "");
    done(&f);
}

static void a_cordon_without_a_mark_is_somebody_elses(void **state) {
    (void)state;
    struct fixture f;
    look(&f, "{'metadata':{'name':'a'},'spec':{'unschedulable':true}}");
    assert_int_equal(f.cordon.owner, CORDON_OTHER);
    assert_string_equal(f.text, "somebody else");
    done(&f);
}

static void autoscalers_are_known_by_their_taints(void **state) {
    (void)state;
    struct fixture f;
    look(&f, "{'metadata':{'name':'a'},'spec':{'unschedulable':true,'taints':["
             "{'key':'x'},{'key':'ToBeDeletedByClusterAutoscaler','effect':'NoSchedule'}]}}");
    assert_int_equal(f.cordon.owner, CORDON_AUTOSCALER);
    done(&f);
    look(&f, "{'metadata':{'name':'a'},'spec':{'unschedulable':true,'taints':["
             "{'key':'karpenter.sh/disrupted','effect':'NoSchedule'}]}}");
    assert_int_equal(f.cordon.owner, CORDON_KARPENTER);
    done(&f);
}

#define RECORD(text)                                                                               \
    "{'metadata':{'name':'a','annotations':{'slipway.dev/cordon':'" text                           \
    "'}},'spec':{'unschedulable':true}}"
#define Q "\\\""

static void the_record_names_every_holder(void **state) {
    (void)state;
    struct fixture f;
    look(&f, RECORD("{" Q "v" Q ":1," Q "before" Q ":true," Q "holders" Q ":[{" Q "id" Q ":" Q
                    "m1" Q "," Q "by" Q ":" Q "alice" Q "," Q "reason" Q ":" Q "kernel" Q "," Q
                    "since" Q ":" Q "2026-11-15T08:00:00Z" Q "},{" Q "id" Q ":" Q "m2" Q "}]}"));
    assert_int_equal(f.cordon.owner, CORDON_SLIPWAY);
    assert_true(f.cordon.before);
    assert_int_equal(f.cordon.n_holders, 2);
    assert_string_equal(f.cordon.holders[0].by, "alice");
    assert_int_equal(f.cordon.holders[0].since, INT64_C(1794729600) * 1000000);
    assert_string_equal(f.cordon.holders[1].reason, "");
    assert_string_equal(f.text, "m1 (alice): kernel, m2");
    assert_true(cordon_names(f.node, "m1") && cordon_names(f.node, "m2"));
    assert_false(cordon_names(f.node, "m3") || cordon_names(f.node, ""));
    done(&f);
}

static void a_record_that_is_not_understood_is_never_misread(void **state) {
    (void)state;
    static const struct {
        const char *json, *problem;
    } cases[] = {
        {RECORD("{" Q "v" Q ":2," Q "holders" Q ":[]}"),
         "it is of version 2, this program knows version 1"},
        {RECORD("not json"), "it is no JSON"},
        {RECORD("[]"), "it is no cordon record"},
        {RECORD("{" Q "v" Q ":" Q "1" Q "}"), "it is no cordon record"},
        {RECORD("{" Q "v" Q ":1}"), "its holders make no sense"},
        {RECORD("{" Q "v" Q ":1," Q "holders" Q ":[1]}"), "one of its holders is no object"},
        {RECORD("{" Q "v" Q ":1," Q "holders" Q ":[{" Q "since" Q ":" Q "soon" Q "}]}"),
         "the time of one of its holders is no time"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        look(&f, cases[i].json);
        assert_int_equal(f.cordon.owner, CORDON_UNREADABLE);
        assert_string_equal(f.cordon.problem, cases[i].problem);
        assert_int_equal(f.cordon.n_holders, 0);
        done(&f);
    }
}

static void a_record_without_holders_leaves_the_cordon_to_others(void **state) {
    (void)state;
    struct fixture f;
    look(&f, RECORD("{" Q "v" Q ":1," Q "before" Q ":true," Q "holders" Q ":[]}"));
    assert_int_equal(f.cordon.owner, CORDON_OTHER);
    done(&f);
}

/* --- changing it --- */

/* A node with this resourceVersion, cordoned or not, with this record (JSON, or NULL). */
static const struct node *make(struct world *w, bool cordoned, const char *record) {
    _cleanup_json_ json_t *node =
        json_pack("{s{ss ss}}", "metadata", "name", "a", "resourceVersion", "41");
    if (cordoned)
        json_object_set_new(node, "spec", json_pack("{sb}", "unschedulable", 1));
    if (record)
        json_object_set_new(json_object_get(node, "metadata"), "annotations",
                            json_pack("{ss ss}", CORDON_ANNOTATION, record, "other", "stays"));
    _cleanup_free_ char *text = json_dumps(node, 0);
    return world_add(w, &kind_node, text);
}

/* What a change came to: the patch taken apart. */
struct change {
    struct world world;
    enum cordon_change what;
    struct str patch;
    struct err err;
    bool stays;
    json_t *body, *record; /* of the patch; record NULL: the annotation is removed */
};

static void change_read(struct change *c) {
    if (c->what != CORDON_WRITE) {
        assert_int_equal(c->patch.len, 0);
        return;
    }
    c->body = json_loads(str_get(&c->patch), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(c->body);
    json_t *meta = json_object_get(c->body, "metadata");
    assert_string_equal(json_str(meta, "resourceVersion"), "41");
    json_t *notes = json_object_get(meta, "annotations");
    assert_int_equal(json_object_size(notes), 1);
    json_t *note = json_object_get(notes, CORDON_ANNOTATION);
    assert_non_null(note);
    if (json_is_null(note))
        return;
    c->record = json_loads(json_string_value(note), JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_integer_value(json_object_get(c->record, "v")), 1);
}

static void take(struct change *c, bool cordoned, const char *record, const char *id,
                 const char *reason) {
    *c = (struct change){.patch = STR_INIT};
    world_init(&c->world);
    struct cordon_holder me = {
        .id = id, .by = "eve@x", .reason = reason, .since = INT64_C(1794733200) * USEC_PER_SEC};
    c->what = cordon_take(make(&c->world, cordoned, record), &me, &c->patch, &c->err);
    change_read(c);
}

static void release(struct change *c, bool cordoned, const char *record, const char *id, bool any) {
    *c = (struct change){.patch = STR_INIT};
    world_init(&c->world);
    c->what =
        cordon_release(make(&c->world, cordoned, record), id, any, &c->patch, &c->stays, &c->err);
    change_read(c);
}

static void change_done(struct change *c) {
    json_decref(c->body);
    json_decref(c->record);
    str_done(&c->patch);
    err_done(&c->err);
    world_done(&c->world);
}

static const json_t *unschedulable(const struct change *c) {
    return json_object_get(json_object_get(c->body, "spec"), "unschedulable");
}

static const json_t *holder(const struct change *c, size_t i) {
    return json_array_get(json_object_get(c->record, "holders"), i);
}

static size_t holders(const struct change *c) {
    return json_array_size(json_object_get(c->record, "holders"));
}

static bool before(const struct change *c) {
    const json_t *b = json_object_get(c->record, "before");
    assert_true(json_is_boolean(b));
    return json_is_true(b);
}

#define ALICE                                                                                      \
    "{\"id\":\"cli/alice\",\"by\":\"alice@pc\",\"reason\":\"kernel\","                             \
    "\"since\":\"2026-11-15T08:00:00Z\"}"
#define BOB             "{\"id\":\"cli/bob\"}"
#define HELD(b, people) "{\"v\":1,\"before\":" b ",\"holders\":[" people "]}"

static void taking_a_free_node_cordons_it_and_writes_who(void **state) {
    (void)state;
    struct change c;
    take(&c, false, NULL, "cli/eve", "disk");
    assert_int_equal(c.what, CORDON_WRITE);
    assert_true(json_is_true(unschedulable(&c)));
    assert_false(before(&c));
    assert_int_equal(holders(&c), 1);
    assert_string_equal(json_str(holder(&c, 0), "id"), "cli/eve");
    assert_string_equal(json_str(holder(&c, 0), "by"), "eve@x");
    assert_string_equal(json_str(holder(&c, 0), "reason"), "disk");
    assert_string_equal(json_str(holder(&c, 0), "since"), "2026-11-15T09:00:00Z");
    change_done(&c);
}

static void a_cordon_without_a_record_is_remembered(void **state) {
    (void)state;
    struct change c;
    take(&c, true, NULL, "cli/eve", "");
    assert_int_equal(c.what, CORDON_WRITE);
    assert_true(before(&c));
    assert_null(json_object_get(holder(&c, 0), "reason"));
    change_done(&c);
    /* Nor does a record without holders say that Slipway cordoned it. */
    take(&c, true, HELD("false", ""), "cli/eve", "");
    assert_true(before(&c));
    change_done(&c);
}

static void others_and_what_was_before_are_kept(void **state) {
    (void)state;
    for (int b = 0; b < 2; b++) {
        struct change c;
        take(&c, true, b ? HELD("true", ALICE "," BOB) : HELD("false", ALICE "," BOB), "cli/eve",
             "disk");
        assert_int_equal(c.what, CORDON_WRITE);
        assert_int_equal(before(&c), b);
        assert_int_equal(holders(&c), 3);
        assert_string_equal(json_str(holder(&c, 0), "id"), "cli/alice");
        assert_string_equal(json_str(holder(&c, 0), "by"), "alice@pc");
        assert_string_equal(json_str(holder(&c, 0), "reason"), "kernel");
        assert_string_equal(json_str(holder(&c, 0), "since"), "2026-11-15T08:00:00Z");
        assert_string_equal(json_str(holder(&c, 1), "id"), "cli/bob");
        assert_null(json_object_get(holder(&c, 1), "since"));
        assert_string_equal(json_str(holder(&c, 2), "id"), "cli/eve");
        change_done(&c);
    }
}

/* Of another holder, and of the record itself. */
static void what_a_newer_release_has_added_is_kept(void **state) {
    (void)state;
    static const char record[] = "{\"v\":1,\"before\":false,\"ticket\":7,\"holders\":[{\"id\":"
                                 "\"a\",\"until\":\"x\"},{\"id\":\"b\"}]}";
    for (int i = 0; i < 2; i++) {
        struct change c;
        if (i)
            take(&c, true, record, "c", "disk");
        else
            release(&c, true, record, "b", false);
        assert_int_equal(c.what, CORDON_WRITE);
        assert_int_equal(json_integer_value(json_object_get(c.record, "ticket")), 7);
        assert_string_equal(json_str(holder(&c, 0), "until"), "x");
        change_done(&c);
    }
}

static void taking_twice_changes_nothing_but_the_reason(void **state) {
    (void)state;
    struct change c;
    take(&c, true, HELD("false", ALICE "," BOB), "cli/alice", "");
    assert_int_equal(c.what, CORDON_NOTHING);
    change_done(&c);
    take(&c, true, HELD("false", ALICE "," BOB), "cli/alice", "kernel");
    assert_int_equal(c.what, CORDON_NOTHING);
    change_done(&c);
    take(&c, true, HELD("false", ALICE "," BOB), "cli/alice", "disk");
    assert_int_equal(c.what, CORDON_WRITE);
    assert_int_equal(holders(&c), 2);
    assert_string_equal(json_str(holder(&c, 0), "reason"), "disk");
    assert_string_equal(json_str(holder(&c, 0), "by"), "eve@x"); /* whose reason it is */
    assert_string_equal(json_str(holder(&c, 0), "since"), "2026-11-15T08:00:00Z");
    change_done(&c);
}

static void a_record_whose_cordon_was_lifted_is_begun_anew(void **state) {
    (void)state;
    struct change c;
    take(&c, false, HELD("true", ALICE "," BOB), "cli/alice", "");
    assert_int_equal(c.what, CORDON_WRITE);
    assert_true(json_is_true(unschedulable(&c)));
    assert_false(before(&c));
    assert_int_equal(holders(&c), 1);
    assert_string_equal(json_str(holder(&c, 0), "since"), "2026-11-15T09:00:00Z");
    change_done(&c);
}

static void what_is_not_understood_is_not_overwritten(void **state) {
    (void)state;
    static const char *const records[] = {"{\"v\":2,\"holders\":[]}", "x", ""};
    for (size_t i = 0; i < ARRAY_LEN(records); i++)
        for (int cordoned = 0; cordoned < 2; cordoned++) {
            struct change c;
            take(&c, cordoned, records[i], "cli/eve", "");
            assert_int_equal(c.what, CORDON_REFUSED);
            assert_non_null(strstr(err_msg(&c.err), "node \"a\" has a cordon record"));
            assert_non_null(strstr(err_msg(&c.err), i ? "no JSON" : "version 2"));
            change_done(&c);
            release(&c, cordoned, records[i], "cli/eve", false);
            assert_int_equal(c.what, CORDON_REFUSED);
            assert_int_equal(c.stays, cordoned);
            change_done(&c);
            release(&c, cordoned, records[i], "cli/eve", true);
            assert_int_equal(c.what, CORDON_WRITE);
            assert_null(c.record);
            assert_true(json_is_null(unschedulable(&c)));
            change_done(&c);
        }
}

static void a_record_has_room_for_a_hundred(void **state) {
    (void)state;
    for (int n = 99; n <= 100; n++) {
        _cleanup_str_ struct str record = STR_INIT;
        struct change c;
        str_add(&record, "{\"v\":1,\"before\":false,\"holders\":[");
        for (int i = 0; i < n; i++)
            str_addf(&record, "%s{\"id\":\"h%d\"}", i ? "," : "", i);
        str_add(&record, "]}");
        take(&c, true, str_get(&record), "cli/eve", "");
        assert_int_equal(c.what, n < 100 ? CORDON_WRITE : CORDON_REFUSED);
        if (n == 100)
            assert_non_null(strstr(err_msg(&c.err), "100 holders"));
        change_done(&c);
        take(&c, true, str_get(&record), "h50", "new"); /* who is in it stays in it */
        assert_int_equal(c.what, CORDON_WRITE);
        assert_int_equal(holders(&c), n);
        change_done(&c);
    }
}

static void the_last_holder_who_leaves_uncordons(void **state) {
    (void)state;
    struct change c;
    release(&c, true, HELD("false", ALICE), "cli/alice", false);
    assert_int_equal(c.what, CORDON_WRITE);
    assert_false(c.stays);
    assert_null(c.record);
    assert_true(json_is_null(unschedulable(&c)));
    assert_null(c.err.msg);
    change_done(&c);
    /* The same id twice in a record is one holder. */
    release(&c, true, HELD("false", ALICE "," ALICE), "cli/alice", false);
    assert_false(c.stays);
    change_done(&c);
}

static void while_others_hold_it_it_stays(void **state) {
    (void)state;
    struct change c;
    release(&c, true, HELD("false", ALICE "," BOB), "cli/bob", false);
    assert_int_equal(c.what, CORDON_WRITE);
    assert_true(c.stays);
    assert_true(json_is_true(unschedulable(&c)));
    assert_int_equal(holders(&c), 1);
    assert_string_equal(json_str(holder(&c, 0), "id"), "cli/alice");
    assert_string_equal(err_msg(&c.err),
                        "node \"a\" is held cordoned by alice@pc as cli/alice (kernel, since "
                        "2026-11-15T08:00:00Z)");
    change_done(&c);
    release(&c, true, HELD("true", ALICE "," BOB), "cli/alice", false);
    assert_true(before(&c));
    assert_string_equal(err_msg(&c.err),
                        "node \"a\" is held cordoned by cli/bob, and before that by somebody who "
                        "left no record, kubectl cordon for instance");
    change_done(&c);
}

static void what_was_cordoned_before_stays_so(void **state) {
    (void)state;
    struct change c;
    release(&c, true, HELD("true", ALICE), "cli/alice", false);
    assert_int_equal(c.what, CORDON_WRITE);
    assert_true(c.stays);
    assert_null(c.record);
    assert_true(json_is_true(unschedulable(&c)));
    assert_non_null(strstr(err_msg(&c.err), "somebody who left no record"));
    change_done(&c);
}

static void who_holds_nothing_is_refused(void **state) {
    (void)state;
    struct change c;
    release(&c, true, HELD("false", ALICE), "cli/eve", false);
    assert_int_equal(c.what, CORDON_REFUSED);
    assert_true(c.stays);
    assert_non_null(strstr(err_msg(&c.err), "alice@pc"));
    assert_null(strstr(err_msg(&c.err), "no record"));
    change_done(&c);
    release(&c, true, NULL, "cli/eve", false);
    assert_int_equal(c.what, CORDON_REFUSED);
    assert_true(c.stays);
    assert_non_null(strstr(err_msg(&c.err), "left no record"));
    change_done(&c);
}

static void autoscalers_are_named(void **state) {
    (void)state;
    struct world w;
    struct err err = ERR_INIT;
    struct str patch = STR_INIT;
    bool stays = false;
    world_init(&w);
    const struct node *node =
        world_add(&w, &kind_node,
                  "{'metadata':{'name':'a'},'spec':{'unschedulable':true,'taints':["
                  "{'key':'ToBeDeletedByClusterAutoscaler','effect':'NoSchedule'}]}}");
    assert_int_equal(cordon_release(node, "x", false, &patch, &stays, &err), CORDON_REFUSED);
    assert_non_null(strstr(err_msg(&err), "cluster-autoscaler, which is removing it"));
    err_done(&err);
    str_done(&patch);
    world_done(&w);
}

static void all_holders_can_be_sent_away(void **state) {
    (void)state;
    static const char *const records[] = {HELD("true", ALICE "," BOB), HELD("false", BOB), NULL};
    for (size_t i = 0; i < ARRAY_LEN(records); i++) {
        struct change c;
        release(&c, true, records[i], "cli/eve", true);
        assert_int_equal(c.what, CORDON_WRITE);
        assert_false(c.stays);
        assert_null(c.record);
        assert_true(json_is_null(unschedulable(&c)));
        change_done(&c);
    }
}

static void a_node_that_is_free_stays_free(void **state) {
    (void)state;
    struct change c;
    for (int any = 0; any < 2; any++) {
        release(&c, false, NULL, "cli/eve", any);
        assert_int_equal(c.what, CORDON_NOTHING);
        assert_false(c.stays);
        change_done(&c);
    }
    /* Somebody else's stale record is left alone, one of ours would claim the next cordon. */
    release(&c, false, HELD("false", ALICE), "cli/eve", false);
    assert_int_equal(c.what, CORDON_NOTHING);
    change_done(&c);
    release(&c, false, HELD("true", ALICE "," BOB), "cli/alice", false);
    assert_int_equal(c.what, CORDON_WRITE);
    assert_false(c.stays);
    assert_null(c.record);
    assert_true(json_is_null(unschedulable(&c)));
    change_done(&c);
}

static void hostile_texts_make_a_valid_patch(void **state) {
    (void)state;
    struct change c;
    take(&c, false, NULL, "a\"},{\"id\":\"b", "line\n\xff\x01 \\ \"");
    assert_int_equal(c.what, CORDON_WRITE);
    assert_int_equal(holders(&c), 1);
    assert_string_equal(json_str(holder(&c, 0), "id"), "a\"},{\"id\":\"b");
    assert_string_equal(json_str(holder(&c, 0), "reason"), "line\n\xef\xbf\xbd\x01 \\ \"");
    change_done(&c);
}

/* --- records of an earlier cordon --- */

/* A cordoned node whose taint has this time (NULL: no taint), with this record. */
static const struct node *tainted(struct world *w, const char *added, const char *record) {
    _cleanup_json_ json_t *node =
        json_pack("{s{ss ss s{ss}} s{sb}}", "metadata", "name", "a", "resourceVersion", "41",
                  "annotations", CORDON_ANNOTATION, record, "spec", "unschedulable", 1);
    if (added)
        json_object_set_new(json_object_get(node, "spec"), "taints",
                            json_pack("[{ss ss ss}]", "key", "node.kubernetes.io/unschedulable",
                                      "effect", "NoSchedule", "timeAdded", added));
    _cleanup_free_ char *text = json_dumps(node, 0);
    return world_add(w, &kind_node, text);
}

static int64_t at(const char *text) {
    int64_t t;
    assert_true(time_parse(text, strlen(text), &t));
    return t;
}

#define CAROL "{\"id\":\"cli/carol\",\"since\":\"2026-11-15T10:00:00Z\"}" /* alice: 08:00:00 */

/* By the time of the taint, and of the one who looks. */
static void a_taint_that_is_clearly_newer_tells_of_another_cordon(void **state) {
    (void)state;
    static const struct {
        const char *added, *now, *record;
        bool earlier;
    } cases[] = {
        {"2026-11-15T08:00:01Z", "2026-11-15T12:00:00Z", HELD("false", ALICE), false},
        {"2026-11-15T07:00:00Z", "2026-11-15T12:00:00Z", HELD("false", ALICE), false},
        {"2026-11-15T08:01:00Z", "2026-11-15T12:00:00Z", HELD("false", ALICE), false},
        {"2026-11-15T08:01:01Z", "2026-11-15T12:00:00Z", HELD("false", ALICE), true},
        {"2026-11-15T09:30:00Z", "2026-11-15T12:00:00Z", HELD("true", ALICE), true},
        /* Who joined a cordon that was there is a holder of it. */
        {"2026-11-15T09:30:00Z", "2026-11-15T12:00:00Z", HELD("false", ALICE "," CAROL), false},
        {"2026-11-15T10:01:01Z", "2026-11-15T12:00:00Z", HELD("false", ALICE "," CAROL), true},
        /* From the future: the clocks are of no use. */
        {"2026-11-15T12:00:01Z", "2026-11-15T12:00:00Z", HELD("false", ALICE), false},
        /* Nothing to compare. */
        {NULL, "2026-11-15T12:00:00Z", HELD("false", ALICE), false},
        {"2026-11-15T09:30:00Z", "2026-11-15T12:00:00Z", HELD("false", ALICE "," BOB), false},
        {"2026-11-15T09:30:00Z", "2026-11-15T12:00:00Z", HELD("false", ""), false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        struct cordon c;
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        world_init(&w);
        const struct node *node = tainted(&w, cases[i].added, cases[i].record);
        cordon_of(node, &arena, &c);
        assert_int_equal(c.since, cases[i].added ? at(cases[i].added) : 0);
        assert_false(c.earlier);
        size_t holders_before = c.n_holders;
        cordon_judge(node, at(cases[i].now), &c);
        if (c.earlier != cases[i].earlier)
            fail_msg("case %zu", i);
        assert_int_equal(c.n_holders, holders_before);
        if (c.earlier) {
            assert_int_equal(c.owner, CORDON_OTHER);
            assert_string_equal(cordon_text(&c, &arena), "somebody else");
        }
        world_done(&w);
    }
}

static void an_earlier_cordon_of_ours_does_not_lift_somebody_elses(void **state) {
    (void)state;
    struct change c = {.patch = STR_INIT};
    world_init(&c.world);
    const struct node *node = tainted(&c.world, "2026-11-15T09:30:00Z", HELD("false", ALICE));
    c.what = cordon_release_later(node, "cli/alice", false, at("2026-11-15T12:00:00Z"), &c.patch,
                                  &c.stays, &c.err);
    assert_int_equal(c.what, CORDON_REFUSED);
    assert_true(c.stays);
    assert_int_equal(c.patch.len, 0);
    assert_string_equal(
        err_msg(&c.err),
        "node \"a\" is held cordoned by somebody who left no record, kubectl "
        "cordon for instance, since 2026-11-15T09:30:00Z; the record of alice@pc as "
        "cli/alice (since 2026-11-15T08:00:00Z) is of an earlier cordon, which "
        "somebody has lifted");
    err_done(&c.err);
    /* Whoever is told to lifts it, and who was there all the time knows better. */
    c.what = cordon_release_later(node, "cli/alice", true, at("2026-11-15T12:00:00Z"), &c.patch,
                                  &c.stays, &c.err);
    change_read(&c);
    assert_int_equal(c.what, CORDON_WRITE);
    assert_false(c.stays);
    assert_true(json_is_null(unschedulable(&c)));
    json_decref(c.body);
    c.body = NULL;
    c.what = cordon_release(node, "cli/alice", false, &c.patch, &c.stays, &c.err);
    assert_int_equal(c.what, CORDON_WRITE);
    assert_false(c.stays);
    change_done(&c);
}

static void ones_own_cordon_is_let_go_later(void **state) {
    (void)state;
    struct change c = {.patch = STR_INIT};
    world_init(&c.world);
    const struct node *node = tainted(&c.world, "2026-11-15T08:00:03Z", HELD("false", ALICE));
    c.what = cordon_release_later(node, "cli/alice", false, at("2026-11-15T12:00:00Z"), &c.patch,
                                  &c.stays, &c.err);
    change_read(&c);
    assert_int_equal(c.what, CORDON_WRITE);
    assert_false(c.stays);
    assert_null(c.record);
    change_done(&c);
}

static void taking_over_somebody_elses_cordon_begins_a_new_record(void **state) {
    (void)state;
    static const char *const ids[] = {"cli/alice", "cli/eve"};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct change c = {.patch = STR_INIT};
        struct cordon_holder me = {
            .id = ids[i], .by = "x@y", .reason = "", .since = at("2026-11-15T12:00:00Z")};
        world_init(&c.world);
        c.what = cordon_take(tainted(&c.world, "2026-11-15T09:30:00Z", HELD("false", ALICE)), &me,
                             &c.patch, &c.err);
        change_read(&c);
        assert_int_equal(c.what, CORDON_WRITE);
        assert_true(before(&c));
        assert_int_equal(holders(&c), 1);
        assert_string_equal(json_str(holder(&c, 0), "id"), ids[i]);
        assert_string_equal(json_str(holder(&c, 0), "since"), "2026-11-15T12:00:00Z");
        change_done(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_node_has_no_owner),
        cmocka_unit_test(a_cordon_without_a_mark_is_somebody_elses),
        cmocka_unit_test(autoscalers_are_known_by_their_taints),
        cmocka_unit_test(the_record_names_every_holder),
        cmocka_unit_test(a_record_that_is_not_understood_is_never_misread),
        cmocka_unit_test(a_record_without_holders_leaves_the_cordon_to_others),
        cmocka_unit_test(taking_a_free_node_cordons_it_and_writes_who),
        cmocka_unit_test(a_cordon_without_a_record_is_remembered),
        cmocka_unit_test(others_and_what_was_before_are_kept),
        cmocka_unit_test(what_a_newer_release_has_added_is_kept),
        cmocka_unit_test(taking_twice_changes_nothing_but_the_reason),
        cmocka_unit_test(a_record_whose_cordon_was_lifted_is_begun_anew),
        cmocka_unit_test(what_is_not_understood_is_not_overwritten),
        cmocka_unit_test(a_record_has_room_for_a_hundred),
        cmocka_unit_test(the_last_holder_who_leaves_uncordons),
        cmocka_unit_test(while_others_hold_it_it_stays),
        cmocka_unit_test(what_was_cordoned_before_stays_so),
        cmocka_unit_test(who_holds_nothing_is_refused),
        cmocka_unit_test(autoscalers_are_named),
        cmocka_unit_test(all_holders_can_be_sent_away),
        cmocka_unit_test(a_node_that_is_free_stays_free),
        cmocka_unit_test(hostile_texts_make_a_valid_patch),
        cmocka_unit_test(a_taint_that_is_clearly_newer_tells_of_another_cordon),
        cmocka_unit_test(an_earlier_cordon_of_ours_does_not_lift_somebody_elses),
        cmocka_unit_test(ones_own_cordon_is_let_go_later),
        cmocka_unit_test(taking_over_somebody_elses_cordon_begins_a_new_record),
    };
    return cmocka_run_group_tests_name("engine/cordon", tests, NULL, NULL);
}

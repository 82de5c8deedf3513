/* Lets slots go. */
#include "cli/unlocking.h"

#include <errno.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/nodeset.h"
#include "base/shell.h"
#include "cli/node_event.h"
#include "cli/patient.h"
#include "engine/keeper.h"
#include "engine/locks.h"
#include "engine/reason.h"
#include "engine/stop.h"

enum {
    CAS_TRIES = 8, /* changes by others in between: a controller writes once for many */
};

/* --- what there is --- */

static const char *copy(struct arena *arena, const char *s) {
    return arena_strndup(arena, strna(s), strlen(strna(s)));
}

static int parse(const struct config_map *map, struct arena *arena, struct slots *out,
                 struct err *err) {
    return slots_parse(view_of(strna(map_get(map->data, SLOTS_KEY))), arena, out, err);
}

void unlocking_find(const struct store *maps, const char *node, struct arena *arena,
                    struct unlock_items *items, const char **unreadable) {
    size_t n = 0;
    _cleanup_free_ const struct object **all = store_sorted(maps, &n);
    *unreadable = "";
    for (size_t i = 0; i < n; i++) {
        const struct config_map *map = (const struct config_map *)all[i];
        _cleanup_err_ struct err err = ERR_INIT;
        struct slots s;
        if (stop_is(map))
            continue;
        if (parse(map, arena, &s, &err)) {
            if (!**unreadable)
                *unreadable = arena_printf(arena, "ConfigMap %s/%s: %s", map->meta.ns,
                                           map->meta.name, err_msg(&err));
            continue;
        }
        const struct slot *slot = slots_holder(&s, node);
        if (slot || slots_waits(&s, node))
            *vec_push(&items->list) = (struct unlock_item){
                .node = copy(arena, node),
                .policy = copy(arena, keeper_policy_of(map)),
                .ns = copy(arena, map->meta.ns),
                .map = copy(arena, map->meta.name),
                .holds = slot,
                .waits = slots_waits(&s, node),
                .slot = slot ? *slot : (struct slot){0},
            };
        slots_done(&s);
    }
}

/* Something else is in charge of it, and has a way of its own to end. */
static int say_maintenance(struct cli *cli, const struct slot *slot, const char *name) {
    return cli_fail(
        cli, EXIT_REFUSED,
        "node \"%s\" holds its slot for Maintenance %s: 'kubectl delete maintenance %s' "
        "ends both; --anyway lets the slot go all the same",
        slot->node, name, shell_word(&cli->arena, name));
}

int unlocking_may(const struct unlocking *u, const struct slot *slot) {
    struct cli *cli = u->session->cli;
    const char *maintenance = locks_maintenance(slot->by);
    if (u->anyway || slot->state == SLOT_RETURNED)
        return EXIT_DONE;
    if (slot->state != SLOT_GRANTED && !slot->unsure)
        return maintenance ? say_maintenance(cli, slot, maintenance) : EXIT_DONE;
    const char *when = slot->granted
                           ? arena_printf(&cli->arena, " at %s",
                                          locks_clock(slot->granted, cli_now(cli), &cli->arena))
                           : "";
    return cli_fail(cli, EXIT_REFUSED,
                    "node \"%s\" %s told%s that it may go, and may still reboot, while another "
                    "node gets its slot; --anyway lets the slot go all the same",
                    slot->node, slot->unsure ? "may have been" : "was", when);
}

/* --- one of them --- */

/* How it ended, before anything is said. */
enum ending {
    ENDED_CHANGED,
    ENDED_ALREADY, /* it was so before */
    ENDED_REFUSED, /* told already */
    ENDED_FAILED,  /* see the attempt */
};

struct attempt {
    struct unlock_item *item;
    char *version;   /* of the ConfigMap as it was read */
    bool lost;       /* a write may have been carried out without an answer */
    bool may_change; /* the record was read, and there is something to write */
    enum kube_outcome outcome;
    char *message;
    int refused; /* exit code */
};

static void fail(struct attempt *a, enum kube_outcome outcome, const char *message) {
    a->outcome = outcome;
    str_replace(&a->message, message);
}

/* What is to be written, from the record as it is now; the slot must still be the one that was
 * asked about. */
static enum ending decide(struct unlocking *u, struct attempt *a, struct slots *s) {
    struct unlock_item *item = a->item;
    const struct slot *slot = slots_holder(s, item->node);
    _cleanup_err_ struct err err = ERR_INIT;
    bool same = item->holds && slot && streq(slot->id, item->slot.id);
    bool changed = item->waits && !slots_withdraw(s, item->node);
    if (same && (a->refused = unlocking_may(u, slot)))
        return ENDED_REFUSED;
    if (same)
        changed |= !slots_return(s, item->slot.id, &err);
    a->may_change = changed;
    return changed || a->lost ? ENDED_CHANGED : ENDED_ALREADY;
}

static enum ending read_record(struct unlocking *u, struct attempt *a, struct str *record) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    struct slots s = SLOTS_INIT;
    struct patient p;
    enum ending ending = ENDED_FAILED;
    a->may_change = false;
    patient_call(u->session,
                 &(struct kube_op_spec){.kind = &kind_config_map,
                                        .ns = a->item->ns,
                                        .name = a->item->map,
                                        .result = &kind_config_map},
                 &p);
    if (p.outcome == KUBE_NOT_FOUND) {
        ending = a->lost ? ENDED_CHANGED : ENDED_ALREADY; /* and with it all that was in it */
    } else if (p.outcome != KUBE_OK || !p.obj) {
        fail(a, p.outcome, p.message);
    } else if (parse((const struct config_map *)p.obj, &arena, &s, &err)) {
        fail(a, KUBE_OK, err_msg(&err));
    } else {
        str_replace(&a->version, strna(p.obj->meta.version));
        ending = decide(u, a, &s);
        str_reset(record);
        slots_write(&s, record);
    }
    slots_done(&s);
    patient_done(u->session, &kind_config_map, &p);
    return ending;
}

static void write_record(struct unlocking *u, const struct attempt *a, const struct str *record,
                         struct patient *p) {
    _cleanup_str_ struct str patch = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &patch, false);
    jsonw_begin(&w, '{');
    jsonw_kbegin(&w, "metadata", '{');
    jsonw_kstr(&w, "resourceVersion", a->version);
    jsonw_end(&w);
    jsonw_kbegin(&w, "data", '{');
    jsonw_kstr(&w, SLOTS_KEY, str_get(record));
    jsonw_end(&w);
    jsonw_end(&w);
    patient_call(u->session,
                 &(struct kube_op_spec){.method = "PATCH",
                                        .kind = &kind_config_map,
                                        .ns = a->item->ns,
                                        .name = a->item->map,
                                        .query = u->dry_run == DRY_RUN_SERVER
                                                     ? "fieldManager=slipway&dryRun=All"
                                                     : "fieldManager=slipway",
                                        .body = str_get(&patch),
                                        .content_type = "application/merge-patch+json"},
                 p);
}

static enum ending attempt(struct unlocking *u, struct attempt *a) {
    _cleanup_str_ struct str record = STR_INIT;
    for (int i = 0; i < CAS_TRIES; i++) {
        struct patient p;
        enum ending ending = read_record(u, a, &record);
        if (!a->may_change || ending != ENDED_CHANGED || u->dry_run == DRY_RUN_CLIENT)
            return ending;
        write_record(u, a, &record, &p);
        enum kube_outcome outcome = p.outcome;
        a->lost |= p.lost;
        if (outcome != KUBE_OK && outcome != KUBE_CONFLICT)
            fail(a, outcome, p.message);
        patient_done(u->session, NULL, &p);
        if (outcome != KUBE_CONFLICT)
            return outcome == KUBE_OK ? ENDED_CHANGED : ENDED_FAILED;
    }
    fail(a, KUBE_CONFLICT, "others change the record all the time; try again");
    return ENDED_FAILED;
}

static void write_event(struct unlocking *u, const struct unlock_item *item) {
    _cleanup_free_ char *message =
        item->holds ? xasprintf("Slot of policy %s (%s) let go by %s: %s", item->policy,
                                slot_state_word(item->slot.state), u->by, u->reason)
                    : xasprintf("Wish for a slot of policy %s taken back by %s: %s", item->policy,
                                u->by, u->reason);
    bool warning = item->holds && (item->slot.state == SLOT_GRANTED || item->slot.unsure);
    u->no_events = !node_event_write(u->session, &(struct node_event){.node = item->node,
                                                                      .reason = REASON_UNLOCKED,
                                                                      .message = message,
                                                                      .warning = warning});
}

static const char *suffix(const struct unlocking *u) {
    return u->dry_run == DRY_RUN_CLIENT   ? " (dry run)"
           : u->dry_run == DRY_RUN_SERVER ? " (server dry run)"
                                          : "";
}

static int run_one(struct unlocking *u, struct unlock_item *item) {
    struct cli *cli = u->session->cli;
    struct attempt a = {.item = item};
    int code = EXIT_DONE;
    enum ending ending = attempt(u, &a);
    item->changed = ending == ENDED_CHANGED;
    item->over = ending <= ENDED_ALREADY;
    if (item->over) {
        term_printf(&cli->out, "node/");
        term_text(&cli->out, item->node);
        term_printf(&cli->out, " %s%s%s\n", item->changed ? "" : "already ",
                    item->holds     ? "unlocked"
                    : item->changed ? "waits no longer"
                                    : "not waiting",
                    suffix(u));
        term_flush(&cli->out);
    } else if (ending == ENDED_REFUSED) {
        code = a.refused;
    } else {
        code = cli_fail(cli, a.outcome == KUBE_OK ? EXIT_FAILED : session_code(a.outcome),
                        "unable to unlock node \"%s\": %s", item->node, strna(a.message));
    }
    if (item->changed && u->dry_run == DRY_RUN_NONE && !u->no_events)
        write_event(u, item);
    free(a.version);
    free(a.message);
    return code;
}

int unlocking_run(struct unlocking *u, struct unlock_items *items) {
    int code = EXIT_DONE;
    for (size_t i = 0; i < items->list.len; i++)
        code = exit_graver(code, run_one(u, &items->list.p[i]));
    return code;
}

/* --- what comes next --- */

enum keeper_there { KEEPER_THERE, KEEPER_AWAY, KEEPER_UNKNOWN };

static enum keeper_there look_for_controller(struct unlocking *u, const char *ns) {
    struct patient p;
    patient_call(u->session,
                 &(struct kube_op_spec){
                     .kind = &kind_lease, .ns = ns, .name = KEEPER_LEASE, .result = &kind_lease},
                 &p);
    enum keeper_there there = KEEPER_UNKNOWN;
    if (p.outcome == KUBE_NOT_FOUND)
        there = KEEPER_AWAY;
    else if (p.outcome == KUBE_OK && p.obj)
        there = locks_leads((const struct lease *)p.obj, cli_now(u->session->cli)) ? KEEPER_THERE
                                                                                   : KEEPER_AWAY;
    patient_done(u->session, &kind_lease, &p);
    return there;
}

static void tell_next(struct unlocking *u, const char *ns, const char *names, bool one) {
    struct cli *cli = u->session->cli;
    const char *them = one ? "it" : "them";
    switch (look_for_controller(u, ns)) {
    case KEEPER_THERE:
        cli_note(cli, "%s: the controller uncordons %s and frees the slot%s", names, them,
                 one ? "" : "s");
        break;
    case KEEPER_AWAY:
        cli_note(cli,
                 "%s: no controller runs in namespace %s; nothing uncordons %s, and the slot%s "
                 "held, until one does",
                 names, ns, them, one ? " stays" : "s stay");
        break;
    case KEEPER_UNKNOWN:
        cli_note(cli,
                 "%s: the controller uncordons %s and frees the slot%s; while none runs in "
                 "namespace %s, nothing does",
                 names, them, one ? "" : "s", ns);
        break;
    }
}

/* Which of them, together. */
typedef bool pick_fn(const struct unlock_item *item, const char *ns);

static bool is_let_go(const struct unlock_item *item, const char *ns) {
    return item->over && item->holds && streq(item->ns, ns);
}

static bool may_reboot(const struct unlock_item *item, const char *ns) {
    (void)ns;
    return item->changed && item->holds && item->slot.state == SLOT_GRANTED;
}

static bool might_reboot(const struct unlock_item *item, const char *ns) {
    (void)ns;
    return item->changed && item->holds && item->slot.unsure;
}

static bool asks_again(const struct unlock_item *item, const char *ns) {
    (void)ns;
    return item->changed && !item->holds;
}

/* How many, and their names as a node set. */
static size_t fold(const struct unlock_items *items, pick_fn *pick, const char *ns,
                   struct str *out) {
    VEC(const char *) names = VEC_INIT;
    for (size_t i = 0; i < items->list.len; i++)
        if (pick(&items->list.p[i], ns))
            *vec_push(&names) = items->list.p[i].node;
    size_t n = names.len;
    str_reset(out);
    if (n)
        nodeset_fold(names.p, n, out);
    vec_done(&names);
    return n;
}

void unlocking_tell(struct unlocking *u, const struct unlock_items *items) {
    struct cli *cli = u->session->cli;
    _cleanup_str_ struct str names = STR_INIT;
    size_t n;
    if (u->dry_run != DRY_RUN_NONE)
        return;
    for (size_t i = 0; i < items->list.len; i++) {
        bool first = true;
        for (size_t j = 0; j < i && first; j++)
            first = !streq(items->list.p[j].ns, items->list.p[i].ns);
        if (first && (n = fold(items, is_let_go, items->list.p[i].ns, &names)))
            tell_next(u, items->list.p[i].ns, str_get(&names), n == 1);
    }
    if (fold(items, may_reboot, NULL, &names))
        cli_note(cli, "%s: was told that it may go, and may still reboot at any time",
                 str_get(&names));
    if (fold(items, might_reboot, NULL, &names))
        cli_note(cli, "%s: may have been told that it may go, and may still reboot at any time",
                 str_get(&names));
    if (fold(items, asks_again, NULL, &names))
        cli_note(cli, "%s: waits again as soon as it asks", str_get(&names));
}

/* The verb `unlock`: a named human lets the slots of nodes go. */
#include <unistd.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/identity.h"
#include "cli/question.h"
#include "cli/target.h"
#include "cli/unlocking.h"
#include "cli/verb.h"
#include "engine/keeper.h"

struct unlock_opts {
    struct connection_opts connection;
    const char *reason;
    int dry_run; /* enum dry_run */
    bool yes, anyway;
};

/* --- before anything is changed --- */

static int say_none(struct cli *cli, const char *node, const char *unreadable) {
    if (*unreadable)
        return cli_fail(cli, EXIT_REFUSED,
                        "whether node \"%s\" holds a slot is not known: %s; nothing was changed",
                        node, unreadable);
    return cli_fail(cli, EXIT_REFUSED,
                    "node \"%s\" holds no slot and waits for none; nothing was changed. '%s locks' "
                    "shows who does",
                    node, cli->prog);
}

/* Each node must hold a slot that may be let go, or wait: else nothing is done to any. */
static int collect(struct unlocking *u, const struct store *maps, const struct target *target,
                   struct unlock_items *items) {
    struct cli *cli = u->session->cli;
    int code = EXIT_DONE;
    for (size_t i = 0; i < target->names.len; i++) {
        const char *unreadable;
        size_t had = items->list.len;
        unlocking_find(maps, target->names.p[i], &cli->arena, items, &unreadable);
        if (items->list.len == had)
            code = say_none(cli, target->names.p[i], unreadable);
        for (size_t k = had; k < items->list.len; k++) {
            const struct unlock_item *item = &items->list.p[k];
            int rc = item->holds ? unlocking_may(u, &item->slot) : 0;
            code = rc ? rc : code;
        }
    }
    return code;
}

/* "w1 holds a slot of policy default: granted, for Reboot, by fleetlock, 4m ago" */
static void describe(struct cli *cli, const struct unlock_item *item) {
    char age[TIMEFMT_LEN];
    if (item->holds)
        cli_advise(cli, "%s holds a slot of policy %s: %s, for %s, by %s, %s ago", item->node,
                   item->policy, slot_state_word(item->slot.state), item->slot.operation,
                   item->slot.by, duration_format(cli_now(cli) - item->slot.since, age));
    else
        cli_advise(cli, "%s waits for a slot of policy %s", item->node, item->policy);
}

static int ask(struct cli *cli, const struct unlock_opts *o, const struct unlock_items *items) {
    if (o->yes || o->dry_run != DRY_RUN_NONE)
        return 0;
    if (!question_possible(cli))
        return cli_fail(cli, EXIT_REFUSED,
                        "there is nobody to ask whether this is meant: say --yes; nothing was "
                        "changed");
    for (size_t i = 0; i < items->list.len; i++)
        describe(cli, &items->list.p[i]);
    if (question_ask(cli, STDIN_FILENO, items->list.len == 1 ? "Let it go?" : "Let them go?"))
        return 0;
    return cli_fail(cli, EXIT_REFUSED, "nothing was changed");
}

/* --- the verb --- */

static int run_session(struct session *s, const struct unlock_opts *o, const struct target *target,
                       const struct identity *me) {
    struct unlocking u = {.session = s,
                          .dry_run = (enum dry_run)o->dry_run,
                          .by = me->by,
                          .reason = o->reason,
                          .anyway = o->anyway};
    struct unlock_items items = {0};
    const struct store *maps = session_feed(
        s, &kind_config_map,
        &(struct session_feed){.ns = o->connection.flags.ns, .label_selector = SLOTS_LABEL});
    int rc = session_sync(s);
    if (!rc)
        rc = collect(&u, maps, target, &items);
    if (!rc)
        rc = ask(s->cli, o, &items);
    if (!rc) {
        rc = unlocking_run(&u, &items);
        unlocking_tell(&u, &items);
    }
    vec_done(&items.list);
    return rc;
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct unlock_opts *o = cli->opts;
    _cleanup_err_ struct err err = ERR_INIT;
    struct target target = {0};
    struct identity me;
    struct session s;
    if (str_empty(o->reason))
        return cli_usage(cli, "--reason is needed: whoever wonders about the node finds it there");
    int rc = target_parse(cli, &(struct target_opts){.reason = o->reason}, argc, argv, &target);
    if (rc)
        return rc;
    if (identity_get(cli->env, NULL, &cli->arena, &me, &err))
        rc = cli_error(cli, &err);
    if (!rc)
        rc = session_open(cli, &o->connection, &s);
    if (!rc) {
        rc = run_session(&s, o, &target, &me);
        session_close(&s);
    }
    target_forget(&target);
    return rc;
}

#define FIELD(member) offsetof(struct unlock_opts, member)
static const struct option_group own_options = {
    "Options",
    (const struct option[]){
        {.name = "reason",
         .kind = OPTION_STRING,
         .offset = FIELD(reason),
         .arg = "TEXT",
         .env = "SLIPWAY_REASON",
         .help = "Why; needed. It is written as an Event on the node, with your name"},
        {.name = "anyway",
         .kind = OPTION_FLAG,
         .offset = FIELD(anyway),
         .help = "Also the slot of a node that was told that it may go: it may still reboot, and "
                 "then more nodes are out than the policy allows"},
        {.name = "yes",
         .letter = 'y',
         .kind = OPTION_FLAG,
         .offset = FIELD(yes),
         .help = "Do not ask. Needed where there is no terminal"},
        TARGET_DRY_RUN_ROW(FIELD(dry_run)),
        {0}}};
#undef FIELD

const struct verb verb_unlock = {
    .name = "unlock",
    .summary = "Let the slots of nodes go, with a reason",
    .args = "NODE...",
    .text =
        "Says that nodes hold their slots no longer, for when nothing else will: a node that never "
        "came back, a drain that cannot end. Look at '{prog} locks' first: it says what each one "
        "waits for. NODE may be a node set.\n"
        "\n"
        "What is written is only that the slot is returned; the controller then uncordons the node "
        "and frees the slot for the next one. While no controller runs nothing is freed, and that "
        "is said. A node that only waits for a slot does so no longer, until it asks again. Who "
        "did "
        "it, and why, is left as an Event on the node.\n"
        "\n"
        "A node that was told that it may go can still reboot, whatever the record says, and "
        "another one may be out by then: its slot is let go only with --anyway. Make sure that it "
        "is off, or that it does not reboot. A slot that is held for a Maintenance needs --anyway, "
        "too: to delete the Maintenance is the better way.\n"
        "\n"
        "On a terminal you are asked once; elsewhere --yes is needed. When one of the nodes holds "
        "no slot and waits for none, when one is refused, or when nobody has confirmed, the exit "
        "status is 5, and nothing is done to any of them. With -n only the records of that "
        "namespace are looked at.",
    .examples = {{"A node that never came back", "unlock w1 --anyway --reason 'board is dead'"},
                 {"What would be done", "unlock w1 --reason test --dry-run=server"},
                 {"From a script", "unlock 'w[1-3]' --reason CHG-1234 --yes"}},
    .options = (const struct verb_options[]){{&own_options, 0},
                                             {&connection_options,
                                              offsetof(struct unlock_opts, connection)},
                                             {0}},
    .opts_size = sizeof(struct unlock_opts),
    .min_args = 1,
    .max_args = -1,
    .arg_hint = HINT_NODE,
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_REFUSED, 0},
    .see_also = (const char *const[]){"locks", "status", "uncordon", NULL},
    .run = run,
};

/* The verb `help`: verbs and topics explained. */
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/topics.h"
#include "cli/verb.h"

static const char *nearest(const char *name) {
    VEC(const char *) names = VEC_INIT;
    for (size_t i = 0; verbs[i]; i++)
        if (!verbs[i]->hidden)
            *vec_push(&names) = verbs[i]->name;
    for (size_t i = 0; i < n_topics; i++)
        *vec_push(&names) = topics[i].name;
    const char *near = suggest_nearest(name, names.p, names.len);
    vec_done(&names);
    return near;
}

static int run(struct cli *cli, int argc, char **argv) {
    if (!argc) {
        help_index(cli->prog, &cli->out.buf);
        return EXIT_DONE;
    }
    const struct verb *verb = verb_find(argv[0]);
    const struct topic *topic = topic_find(argv[0]);
    if (verb && !verb->hidden) {
        help_verb(cli->prog, verb, &cli->out.buf);
        return EXIT_DONE;
    }
    if (topic) {
        help_topic(cli->prog, topic, &cli->out.buf);
        return EXIT_DONE;
    }
    const char *near = nearest(argv[0]);
    if (near)
        return cli_usage(cli, "there is no verb or topic \"%s\" (did you mean \"%s\"?)", argv[0],
                         near);
    return cli_usage(cli, "there is no verb or topic \"%s\"", argv[0]);
}

const struct verb verb_help = {
    .name = "help",
    .summary = "Explain a verb or a topic",
    .args = "[VERB|TOPIC]",
    .text = "Without an argument all verbs and topics are listed. A topic is about something that "
            "is the same for all verbs, such as exit codes or output formats.",
    .examples = {{"All verbs and topics", "help"},
                 {"What a verb does and which flags it has", "help version"},
                 {"What the exit codes mean, for a script", "help exit-codes"}},
    .max_args = 1,
    .arg_hint = HINT_TOPIC,
    .see_also = (const char *const[]){"completion", NULL},
    .common = true,
    .run = run,
};

/* The hidden verb `__resources`: the page docs/resources.md, from the description of Slipway's own
 * custom resources. */
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/verb.h"
#include "model/own_fields.h"

static const char head[] =
    "# Custom resources\n"
    "\n"
    "    slipway export crds | kubectl apply -f -\n"
    "\n"
    "installs the definitions of three kinds of objects, all of them cluster-scoped, group "
    "`" OWN_API_VERSION "`. They are for the controller\n"
    "([install.md](install.md)): the API server refuses what is wrong with such an object, and the "
    "controller obeys the others. `slipway plan`,\n"
    "`drain`, `cordon` and `uncordon` need none of them.\n"
    "\n"
    "`kubectl get slipway` shows the objects of all three kinds. A kubectl that knew the cluster "
    "before the definitions has to look again:\n"
    "`kubectl api-resources --api-group=" OWN_GROUP "`.\n"
    "\n"
    "This page is made from the table in `src/model/own_fields.c` by `slipway __resources`, as "
    "the definitions are; a test compares the two.\n"
    "Fields that are not listed are refused by kubectl, unless it is told `--validate=false`. "
    "Durations are written `30s`, `5m`, `1h30m`.\n";

static const char word_text[] =
    "\n### Annotation `" OWN_WORD_ANNOTATION "`\n"
    "\n"
    "Says how one goes on that is `Halted`, or `Operating` or `Returning` and comes to nothing: "
    "`retry`, `skip` or `abort`. It is said once, so that "
    "it is no field of the spec: it is taken off when it\n"
    "was heard.\n";

/* --- cells --- */

/* A vertical bar would end the cell. */
static void add_cell(struct str *out, const char *text) {
    for (; *text; text++)
        str_addf(out, "%s%c", *text == '|' ? "\\" : "", *text);
}

static const char *type_word(const struct own_field *f) {
    if (f->rules && f->rules->message && strstr(f->rules->message, "a duration"))
        return "duration";
    switch (f->type) {
    case OWN_OBJECT:
        return "object";
    case OWN_LIST:
        return f->item->type == OWN_OBJECT ? "list" : "list of texts";
    case OWN_STR:
        return "text";
    case OWN_INT:
    case OWN_LONG:
        return "number";
    case OWN_BOOL:
        return "true or false";
    case OWN_TIME:
        return "time";
    case OWN_COUNT:
        return "number or percentage";
    case OWN_SECONDS:
        return "duration or seconds";
    case OWN_LABELS:
        return "texts by keys";
    }
    return "";
}

static void add_type(struct str *out, const struct own_field *f) {
    if (!f->words) {
        str_add(out, type_word(f));
        if (f->type == OWN_INT && f->min < f->max)
            str_addf(out, ", %lld to %lld", (long long)f->min, (long long)f->max);
        return;
    }
    for (size_t i = 0; f->words[i]; i++)
        str_addf(out, "%s`%s`", i ? ", " : "", f->words[i]);
}

static void add_default(struct str *out, const struct own_field *f) {
    if (f->required)
        str_add(out, "needed");
    else if (f->initial && f->initial[0] == '"')
        str_addf(out, "`%.*s`", (int)strlen(f->initial) - 2, f->initial + 1);
    else if (f->initial)
        str_addf(out, "`%s`", f->initial);
}

/* The sentence of a rule: as it is, with a capital and a full stop. */
static void add_sentence(struct str *out, const char *text) {
    char first = *text >= 'a' && *text <= 'z' ? (char)(*text - 'a' + 'A') : *text;
    str_addf(out, "%c%s.", first, text + 1);
}

/* What is said about an object or a list as a whole; of a text its type says enough. */
static void add_rules(struct str *out, const struct own_field *f) {
    for (const struct own_rule *r = f->rules; r && r->message; r++)
        if (r->cel && (f->type == OWN_OBJECT || f->type == OWN_LIST)) {
            str_addc(out, ' ');
            add_sentence(out, r->message);
        }
}

static void add_rows(struct str *out, const char *above, const struct own_field *fields) {
    for (const struct own_field *f = fields; f && f->name; f++) {
        _cleanup_str_ struct str path = STR_INIT, meaning = STR_INIT;
        bool objects = f->type == OWN_LIST && f->item->type == OWN_OBJECT;
        str_addf(&path, "%s%s%s", above, *above ? "." : "", f->name);
        str_add(&meaning, f->meaning);
        add_rules(&meaning, f);
        if (objects)
            add_rules(&meaning, f->item);
        if (f->fixed)
            str_add(&meaning, " Cannot be changed.");
        str_addf(out, "| `%s` | ", str_get(&path));
        add_type(out, f);
        str_add(out, " | ");
        add_default(out, f);
        str_add(out, " | ");
        add_cell(out, str_get(&meaning));
        str_add(out, " |\n");
        if (objects)
            str_add(&path, "[]");
        add_rows(out, str_get(&path), objects ? f->item->fields : f->fields);
    }
}

/* --- the page --- */

static void add_example(struct str *out, const char *yaml) {
    for (const char *line = yaml; *line;) {
        const char *end = strchrnul(line, '\n');
        str_addf(out, "    %.*s\n", (int)(end - line), line);
        line = *end ? end + 1 : end;
    }
}

static bool add_bullets(struct str *out, const struct own_rule *rules) {
    for (const struct own_rule *r = rules; r && r->message; r++) {
        str_add(out, "- ");
        add_sentence(out, r->message);
        str_addc(out, '\n');
    }
    return rules;
}

static void add_table(struct str *out, const struct own_resource *r, const struct own_field *f) {
    bool spec = f == r->fields;
    str_addf(out, "\n### %s of a %s\n\n", spec ? "Spec" : "Status", r->kind->name);
    bool own = add_bullets(out, f->rules);
    if (add_bullets(out, spec ? r->rules : NULL) || own)
        str_addc(out, '\n');
    str_add(out, "| field | is | default | meaning |\n|---|---|---|---|\n");
    add_rows(out, "", f->fields);
}

static void add_resource(struct str *out, const struct own_resource *r) {
    str_addf(out, "\n## %s\n\n%s `kubectl get %s.%s`, or for short `%s`.\n\n", r->kind->name,
             r->meaning, r->kind->resource, r->kind->group, r->short_name);
    add_example(out, r->example);
    for (const struct own_field *f = r->fields; f->name; f++)
        add_table(out, r, f);
    if (r->kind == &kind_maintenance)
        str_add(out, word_text);
}

static int run(struct cli *cli, int argc, char **argv) {
    (void)argc, (void)argv;
    str_add(&cli->out.buf, head);
    for (const struct own_resource *r = own_resources; r->kind; r++)
        add_resource(&cli->out.buf, r);
    return EXIT_DONE;
}

const struct verb verb_resources = {
    .name = "__resources",
    .summary = "Print the page about custom resources",
    .text = "For docs/resources.md.",
    .hidden = true,
    .run = run,
};

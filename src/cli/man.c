/* Manual pages in mdoc. */
#include "cli/man.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "cli/groups.h"
#include "cli/help.h"
#include "cli/text.h"
#include "cli/topics.h"
#include "cli/verb.h"

/* The pages change with the release, not with the day they are built: builds repeat to the byte. */
static const char page_date[] = "November 15, 2026";

/* ---- mdoc ---- */

/* One line of running text. A backslash, and a dot or quote at its start, mean something; the
 * dashes of a flag are no place to break a line. */
static void text_line(struct str *out, const char *s, size_t len) {
    bool flag = false;
    if (len && (s[0] == '.' || s[0] == '\''))
        str_add(out, "\\&");
    for (size_t i = 0; i < len; i++) {
        flag = s[i] == '-' ? flag || !i || !isalnum((unsigned char)s[i - 1]) : flag && s[i] != ' ';
        if (s[i] == '\\')
            str_add(out, "\\e");
        else if (s[i] == '-' && flag)
            str_add(out, "\\-");
        else
            str_addc(out, s[i]);
    }
    str_addc(out, '\n');
}

static void text_lines(struct str *out, const char *lines) {
    while (*lines) {
        size_t len = strcspn(lines, "\n");
        text_line(out, lines, len);
        lines += len;
        lines += *lines == '\n';
    }
}

/* Words on a line that begins with a macro: those that look like a macro's name, and punctuation
 * that macros treat apart, are shielded. */
static void macro_words(struct str *out, const char *s) {
    while (*s) {
        size_t len = strcspn(s, " ");
        bool macro = len >= 2 && len <= 3 && isupper((unsigned char)s[0]);
        str_add(out, macro || (len == 1 && ispunct((unsigned char)s[0])) ? " \\&" : " ");
        for (size_t i = 0; i < len; i++)
            if (s[i] == '\\')
                str_add(out, "\\e");
            else if (s[i] == '"')
                str_add(out, "\\(dq");
            else
                str_addc(out, s[i]);
        s += len;
        s += strspn(s, " ");
    }
    str_addc(out, '\n');
}

/* A paragraph: a new line for each sentence, as mdoc wants it. */
static void paragraph(struct str *out, const char *s) {
    while (*s) {
        const char *end = s;
        for (;; end++) {
            end += strcspn(end, ".?!");
            if (!*end || (end[1] == ' ' && end[2] && !islower((unsigned char)end[2])))
                break;
        }
        size_t len = (size_t)(end - s) + (*end != '\0');
        _cleanup_str_ struct str one = STR_INIT, filled = STR_INIT;
        str_addn(&one, s, len);
        text_fill(&filled, str_get(&one), 0, 0);
        text_lines(out, str_get(&filled));
        s += len;
        s += strspn(s, " \n");
    }
}

static void literal(struct str *out, const char *lines) {
    str_add(out, ".Bd -literal\n");
    text_lines(out, lines);
    str_add(out, ".Ed\n");
}

/* Markup of text.h. `first`: stands right after a section's heading. */
static void markup(struct str *out, const char *text, bool first) {
    _cleanup_str_ struct str expanded = STR_INIT, block = STR_INIT;
    bool is_literal, after_literal = first;
    text_expand(&expanded, text, "slipway");
    const char *p = str_get(&expanded);
    while (text_block(&p, &block, &is_literal)) {
        if (is_literal) {
            literal(out, str_get(&block));
        } else {
            if (!after_literal || !first)
                str_add(out, ".Pp\n");
            paragraph(out, str_get(&block));
        }
        after_literal = first = false;
    }
}

static void page_head(struct str *out, const char *name, const char *summary) {
    _cleanup_str_ struct str upper = STR_INIT;
    for (const char *p = name; *p; p++)
        str_addc(&upper, (char)toupper((unsigned char)*p));
    str_addf(out, ".\\\" Made by the program from its own tables; changes belong there.\n");
    str_addf(out, ".Dd %s\n.Dt %s 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd", page_date, str_get(&upper), name);
    /* mdoc puts the dash before it and wants no capital. */
    _cleanup_str_ struct str lower = STR_INIT;
    str_add(&lower, summary);
    if (lower.len > 1 && isupper((unsigned char)lower.p[0]) && islower((unsigned char)lower.p[1]))
        lower.p[0] = (char)tolower((unsigned char)lower.p[0]);
    macro_words(out, str_get(&lower));
}

/* ---- sections ---- */

static void sentence(struct str *out, const char *text) {
    _cleanup_str_ struct str expanded = STR_INIT;
    text_expand(&expanded, text, "slipway");
    if (!str_ends(str_get(&expanded), "."))
        str_addc(&expanded, '.');
    paragraph(out, str_get(&expanded));
}

static void option_item(struct str *out, const struct option *o) {
    str_add(out, ".It");
    if (o->letter)
        str_addf(out, " Fl %c ,", o->letter);
    str_addf(out, " Fl -%s", o->name);
    if (o->kind != OPTION_FLAG && !o->bare_unless)
        str_addf(out, o->implied ? " Ns Op = Ns Ar %s" : " Ns = Ns Ar %s", o->arg);
    str_addc(out, '\n');
    sentence(out, o->help);
    if (o->initial)
        str_addf(out, "The default is %s.\n", o->initial);
}

static void option_list(struct str *out, const struct option_group *group) {
    if (!option_group_shown(group))
        return;
    str_addf(out, ".Ss %s\n.Bl -tag -width Ds\n", group->title);
    for (const struct option *o = group->rows; o->name; o++)
        if (!o->hidden)
            option_item(out, o);
    str_add(out, ".El\n");
}

static void env_item(void *arg, const struct env_row *row) {
    struct str *out = arg;
    str_addf(out, ".It Ev %s\n", row->name);
    if (row->flag)
        str_addf(out, "The flag\n.Fl -%s .\n", row->flag);
    else
        sentence(out, row->about);
}

static void exit_list(struct str *out, const struct verb *verb) {
    str_add(out, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < n_exit_rows; i++) {
        enum exit_code code = exit_rows[i].code;
        if (verb ? exit_is_used_by(code, verb) : exit_is_used(code)) {
            str_addf(out, ".It %d\n", code);
            sentence(out, exit_rows[i].meaning);
        }
    }
    str_add(out, ".El\n");
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whether the page of `from` (NULL: of the program) refers to that of `verb`. */
static bool refers_to(const struct verb *from, const struct verb *verb) {
    if (!from)
        return !verb->hidden;
    for (size_t i = 0; from->see_also && from->see_also[i]; i++)
        if (streq(from->see_also[i], verb->name))
            return true;
    return false;
}

/* References in the order of the alphabet, as mandoc wants them. */
static void see_also(struct str *out, const struct verb *from) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    VEC(const char *) names = VEC_INIT;
    *vec_push(&names) = from ? "slipway" : "kubectl";
    for (size_t i = 0; verbs[i]; i++)
        if (refers_to(from, verbs[i]))
            *vec_push(&names) = arena_printf(&arena, "slipway-%s", verbs[i]->name);
    qsort(names.p, names.len, sizeof *names.p, by_name);
    str_add(out, ".Sh SEE ALSO\n");
    for (size_t i = 0; i < names.len; i++)
        str_addf(out, ".Xr %s 1%s\n", names.p[i], i + 1 < names.len ? " ," : "");
    vec_done(&names);
}

/* ---- pages ---- */

void man_program(struct str *out) {
    page_head(out, "slipway", "take Kubernetes nodes out of service and put them back");
    str_add(out, ".Sh SYNOPSIS\n.Nm\n.Ar verb\n.Op Ar argument ...\n.Op Ar flags\n"
                 ".Sh DESCRIPTION\n");
    paragraph(out, help_what);
    str_add(out, ".Pp\nLinked as\n.Pa kubectl-slipway\nit is also\n.Ic kubectl slipway .\n"
                 ".Pp\nFlags and arguments may stand in any order;\n.Fl -\nends the flags.\n"
                 "A verb's own page explains it; these are the verbs:\n"
                 ".Bl -tag -width completion\n");
    for (size_t i = 0; verbs[i]; i++)
        if (!verbs[i]->hidden) {
            str_addf(out, ".It Ic %s\n", verbs[i]->name);
            sentence(out, verbs[i]->summary);
        }
    str_add(out, ".El\n");
    option_list(out, &general_options);
    option_list(out, &connection_options);
    option_list(out, &output_options);
    str_add(out, ".Ss Output\n");
    markup(out, topic_find("output")->text, true);
    str_add(out, ".Sh ENVIRONMENT\n");
    markup(out, topic_find("environment")->text, true);
    str_add(out, ".Bl -tag -width Ds\n");
    env_each(env_item, out);
    str_add(out, ".El\n");
    exit_list(out, NULL);
    see_also(out, NULL);
}

void man_verb(const struct verb *verb, struct str *out) {
    _cleanup_str_ struct str name = STR_INIT;
    str_addf(&name, "slipway-%s", verb->name);
    page_head(out, str_get(&name), verb->summary);
    str_addf(out, ".Sh SYNOPSIS\n.Nm slipway %s\n", verb->name);
    if (verb->args) {
        str_add(out, ".Ar");
        macro_words(out, verb->args);
    }
    str_add(out, ".Op Ar flags\n.Sh DESCRIPTION\n");
    markup(out, verb->text, true);
    for (const struct verb_options *o = verb->options; o && o->group; o++)
        option_list(out, o->group);
    option_list(out, &general_options);
    exit_list(out, verb);
    str_add(out, ".Sh EXAMPLES\n");
    for (size_t i = 0; i < VERB_EXAMPLES; i++) {
        if (i)
            str_add(out, ".Pp\n");
        _cleanup_str_ struct str what = STR_INIT, line = STR_INIT;
        str_addf(&what, "%s:", verb->examples[i].what);
        text_line(out, str_get(&what), what.len);
        str_addf(&line, "slipway %s", verb->examples[i].line);
        str_add(out, ".Pp\n.Dl");
        macro_words(out, str_get(&line));
    }
    see_also(out, verb);
}

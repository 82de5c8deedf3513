/* Addresses of mail (RFC 5322, as net/mail reads it). */
#include "sim/api/structural_address.h"

struct mail {
    struct view rest;
};

static bool mail_at(const struct mail *m, char c) {
    return m->rest.len && *m->rest.p == c;
}

static bool mail_take(struct mail *m, char c) {
    bool there = mail_at(m, c);
    if (there)
        m->rest = view_skip(m->rest, 1);
    return there;
}

static void mail_blanks(struct mail *m) {
    while (mail_take(m, ' ') || mail_take(m, '\t'))
        ;
}

static bool mail_visible(char c) {
    return (c >= '!' && c <= '~') || (c & 0x80);
}

/* Behind a parenthesis; they nest, a backslash takes the meaning off. */
static bool mail_comment(struct mail *m) {
    for (int depth = 1; depth;) {
        if (!m->rest.len)
            return false;
        if (mail_at(m, '\\') && m->rest.len > 1)
            m->rest = view_skip(m->rest, 1);
        else if (mail_at(m, '('))
            depth++;
        else if (mail_at(m, ')'))
            depth--;
        m->rest = view_skip(m->rest, 1);
    }
    return true;
}

static bool mail_comments(struct mail *m) {
    mail_blanks(m);
    while (mail_take(m, '(')) {
        if (!mail_comment(m))
            return false;
        mail_blanks(m);
    }
    return true;
}

/* At a quote. */
static bool mail_quoted(struct mail *m, bool *empty) {
    bool escaped = false;
    *empty = true;
    m->rest = view_skip(m->rest, 1);
    for (;; m->rest = view_skip(m->rest, 1)) {
        if (!m->rest.len)
            return false;
        char c = *m->rest.p;
        if (!escaped && c == '"')
            break;
        if (!escaped && c == '\\') {
            escaped = true;
            continue;
        }
        if (!mail_visible(c) && c != ' ' && c != '\t')
            return false;
        *empty = false;
        escaped = false;
    }
    m->rest = view_skip(m->rest, 1);
    return true;
}

/* Characters and dots. In names of people dots may stand anywhere. */
static bool mail_atom(struct mail *m, bool permissive) {
    size_t n = 0;
    while (n < m->rest.len && mail_visible(m->rest.p[n]) && !strchr("()<>[]:;@\\,\"", m->rest.p[n]))
        n++;
    struct view atom = {m->rest.p, n};
    if (!n)
        return false;
    m->rest = view_skip(m->rest, n);
    return permissive ||
           (atom.p[0] != '.' && atom.p[n - 1] != '.' && !memmem(atom.p, atom.len, "..", 2));
}

static bool mail_domain(struct mail *m) {
    if (!mail_take(m, '['))
        return mail_atom(m, false);
    struct view literal = {m->rest.p, 0};
    while (m->rest.len && !mail_at(m, ']')) {
        if (!mail_visible(*m->rest.p) || mail_at(m, '[') || mail_at(m, '\\'))
            return false;
        m->rest = view_skip(m->rest, 1);
        literal.len++;
    }
    return mail_take(m, ']') && address_ip(literal, false);
}

/* local@domain; when it is none, nothing was taken. */
static bool mail_spec(struct mail *m) {
    struct mail before = *m;
    bool empty = false, good;
    mail_blanks(m);
    good = mail_at(m, '"') ? mail_quoted(m, &empty) && !empty : mail_atom(m, false);
    if (good && (good = mail_take(m, '@'))) {
        mail_blanks(m);
        good = mail_domain(m);
    }
    if (!good)
        *m = before;
    return good;
}

/* Words, at least one. What comes behind the last is somebody else's. */
static bool mail_phrase(struct mail *m) {
    for (int words = 0;; words++) {
        bool empty;
        if (words && !mail_comments(m))
            return false;
        mail_blanks(m);
        if (!m->rest.len)
            return true;
        if (!(mail_at(m, '"') ? mail_quoted(m, &empty) : mail_atom(m, true)))
            return words > 0;
    }
}

static bool mail_mailbox(struct mail *m, int *count);

/* Behind the colon of "Group: a@b, c@d;". */
static bool mail_group(struct mail *m, int *count) {
    mail_blanks(m);
    if (mail_take(m, ';'))
        return mail_comments(m);
    for (;;) {
        if (!mail_mailbox(m, count) || !mail_comments(m))
            return false;
        if (mail_take(m, ';'))
            return mail_comments(m);
        if (!mail_take(m, ','))
            return false;
    }
}

/* An address with or without a name. `count` goes up; NULL within a group. */
static bool mail_address(struct mail *m, bool group, int *count) {
    mail_blanks(m);
    if (!m->rest.len)
        return false;
    if (mail_spec(m)) {
        ++*count;
        mail_blanks(m);
        return !mail_take(m, '(') || mail_comment(m);
    }
    if (!mail_at(m, '<') && !mail_phrase(m))
        return false;
    mail_blanks(m);
    if (group && mail_take(m, ':'))
        return mail_group(m, count);
    if (!mail_take(m, '<') || !mail_spec(m) || !mail_take(m, '>'))
        return false;
    ++*count;
    return true;
}

static bool mail_mailbox(struct mail *m, int *count) {
    mail_blanks(m);
    return mail_address(m, false, count);
}

bool address_mail(struct view text) {
    struct mail m = {text};
    int count = 0;
    return mail_address(&m, true, &count) && mail_comments(&m) && !m.rest.len && count == 1;
}

/* Answers as Tables: between the printer and sim/api/table.h. */
#include <inttypes.h>
#include <stdio.h>

#include "sim/api/custom.h"
#include "sim/api/print.h"
#include "sim/api/table.h"

static const struct api_table_kind *columns_of(const struct printer *p) {
    return p->res->custom ? custom_columns(p->res)
                          : api_table_find(p->res->info->group, p->res->info->kind);
}

static struct api_table_options options_of(const struct printer *p) {
    return (struct api_table_options){
        .version = p->accept.beta ? "v1beta1" : "v1",
        .include = p->include,
        .no_headers = p->columns_sent,
        .now = p->now,
    };
}

/* The text of an object as this version serves it. */
static struct view text_of(struct printer *p, const struct record *r) {
    if (!p->res->custom)
        return record_text(r);
    str_reset(&p->scratch);
    print_text(p, r, &p->scratch);
    return (struct view){str_get(&p->scratch), p->scratch.len};
}

void print_table(struct printer *p, const struct record *r, struct str *out) {
    struct api_table_options o = options_of(p);
    api_table_object(columns_of(p), &o, NULL, text_of(p, r), out);
    p->columns_sent = true;
}

void print_table_begin(struct printer *p, const struct list_head *head, struct str *out) {
    struct api_table_options o = options_of(p);
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRIu64, head->version);
    struct list_meta meta = {.version = digits, .token = head->token, .remaining = head->remaining};
    api_table_begin(&p->table, columns_of(p), &o, &meta, out);
    p->table_open = true;
}

void print_table_row(struct printer *p, const struct record *r, struct str *out) {
    api_table_row(&p->table, NULL, text_of(p, r), out);
}

void print_table_end(struct printer *p, struct str *out) {
    api_table_end(&p->table, out);
    p->table_open = false;
    str_addc(out, '\n');
}

void print_table_drop(struct printer *p) {
    if (p->table_open)
        api_table_drop(&p->table);
    p->table_open = false;
}

/* The bookmark's object as a row, like any other. */
void print_table_bookmark(struct printer *p, struct view object, struct str *out) {
    struct api_table_options o = options_of(p);
    api_table_object(columns_of(p), &o, NULL, object, out);
    p->columns_sent = true;
}

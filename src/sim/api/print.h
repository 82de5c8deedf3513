/* Objects, lists and watch events in the form that the client asked for: JSON or protobuf; the
 * object itself, a Table, or its metadata alone. */
#ifndef SIM_API_PRINT_H
#define SIM_API_PRINT_H

#include "sim/api/api_internal.h"
#include "sim/api/table.h"

struct printer {
    const struct resource *res;
    struct accept accept;
    int64_t now;
    enum api_table_include include;
    bool columns_sent; /* of a watch of Tables */
    struct api_table table;
    bool table_open;
    size_t n;        /* items printed so far */
    struct str list; /* protobuf: the list's message, whose length must be known first */
    struct str scratch;
};

/* What is to be printed: some forms are of one sort only. */
enum printed { PRINT_OBJECT, PRINT_LIST, PRINT_WATCH };
/* 400 when the query asks for something that there is not, 406 when this cannot have the form. */
int printer_init(struct printer *p, struct call *c, enum printed what, struct failure *f);
void printer_done(struct printer *p);

/* "application/json", ...; of a watch with its stream parameter. */
const char *printer_type(const struct printer *p, bool stream);

/* One whole object. */
void print_object(struct printer *p, const struct record *r, struct str *out);
/* A Status (as JSON text), in the client's format. */
void print_status(enum kube_format format, struct view json, struct str *out);

/* A value that is not stored, given as canonical text, as protobuf with its envelope. */
void print_encoded(const struct resource_info *info, const struct schema *schema, struct view json,
                   struct str *out);

struct list_head {
    uint64_t version;
    const char *token; /* continue; NULL: none */
    int64_t remaining; /* ABSENT64: not said */
};
/* Begin, items, end; JSON can be sent as it grows, protobuf when it has ended. */
void print_list_begin(struct printer *p, const struct list_head *head, struct str *out);
void print_list_item(struct printer *p, const struct record *r, struct str *out);
void print_list_end(struct printer *p, struct str *out);

/* "ADDED", "MODIFIED", "DELETED", or "BOOKMARK" of an object that is nothing but a version. */
void print_event(struct printer *p, const char *type, const struct record *r, struct str *out);
void print_bookmark(struct printer *p, uint64_t version, bool initial_end, struct str *out);
void print_error_event(struct printer *p, const struct failure *f, struct str *out);

/* An object as text, in the version that is served. */
void print_text(const struct printer *p, const struct record *r, struct str *out);

/* --- Tables: print_table.c --- */

/* A Table of one row; the columns only once in a watch. */
void print_table(struct printer *p, const struct record *r, struct str *out);
void print_table_begin(struct printer *p, const struct list_head *head, struct str *out);
void print_table_row(struct printer *p, const struct record *r, struct str *out);
void print_table_end(struct printer *p, struct str *out);
void print_table_drop(struct printer *p);
void print_table_bookmark(struct printer *p, struct view object, struct str *out);

#endif

/* Server-side printing, inside: the columns of a kind, and the functions that print cells.
 *
 * A kind is an array of columns, each with the function that prints its cell. What several cells of
 * one row have in common (a pod's status is worked out from all its containers) is computed once,
 * by the kind's prepare(), into struct api_row. */
#ifndef SIM_API_TABLE_INTERNAL_H
#define SIM_API_TABLE_INTERNAL_H

#include "base/mem.h"
#include "sim/api/table.h"

/* The annotation on the bookmark that ends the initial events of a watch. */
#define INITIAL_EVENTS_END "k8s.io/initial-events-end"

/* The object that is being printed. */
struct api_row {
    const json_t *object, *meta, *spec, *status; /* NULL where the object has none */
    int64_t now;
    struct jsonw *w;
    struct str text; /* scratch of single cells */
    struct str picked;
    struct {
        struct str reason; /* the STATUS */
        int64_t ready, total, restarts;
        bool restarted;
        int64_t last_restart;
    } pod;
};

struct api_column {
    const char *name, *type, *format;
    int priority;
    /* Writes exactly one value to row->w. */
    void (*cell)(struct api_row *row, const void *arg);
    const void *arg;         /* what the function is told: mostly the path of a member */
    const char *description; /* NULL: "" */
};

struct api_table_kind {
    const char *group, *kind;
    const struct api_column *columns;
    size_t n_columns;
    void (*prepare)(struct api_row *row);    /* may be NULL */
    void (*conditions)(struct api_row *row); /* writes the row's "conditions" if any; may be NULL */
    bool empty_is_null;                      /* an empty list has `"rows":null` */
    /* Where there are many of the kind: all keys, at any depth, that the functions look at, so that
     * an object given as text need not be parsed whole. NULL-terminated; NULL: all. */
    const char *const *keys;
};

/* Appends the object with only the members that `keys` names, at any depth. False when the text is
 * not the text of an object (there may then be anything in `out`); the text of scalars is not
 * checked. */
bool table_pick(struct view text, const char *const *keys, struct str *out);

#define COLUMNS(c) .columns = (c), .n_columns = ARRAY_LEN(c)

/* --- access --- */

/* The value at a path of members ("spec.template.spec"), or NULL. */
const json_t *json_at(const json_t *object, const char *path);
/* A string's text, "" for anything else. */
const char *json_text(const json_t *value);
static inline const char *json_text_of(const json_t *object, const char *key) {
    return json_text(json_object_get(object, key));
}
/* Compares strings for qsort(); the elements are const char *. */
int compare_strings(const void *a, const void *b);
/* Writes the strings joined by commas, sorted; with `unique` each once. Reorders `list`. */
void cell_sorted(struct api_row *row, const char **list, size_t n, bool unique, const char *none);

/* --- cells of any kind; `path` is the argument --- */

void cell_name(struct api_row *row, const void *unused);
void cell_age(struct api_row *row, const void *unused); /* since the creation */
void cell_string(struct api_row *row, const void *path);
void cell_string_none(struct api_row *row, const void *path);  /* "<none>" when empty */
void cell_string_unset(struct api_row *row, const void *path); /* "<unset>" when absent */
void cell_int(struct api_row *row, const void *path);
void cell_bool(struct api_row *row, const void *path);
void cell_count(struct api_row *row, const void *path);  /* of a list or map */
void cell_labels(struct api_row *row, const void *path); /* "a=b,c=d" */

/* --- cells of workloads --- */

void cell_containers(struct api_row *row, const void *unused); /* of the template */
void cell_images(struct api_row *row, const void *unused);
/* spec.selector; the argument says what stands for one that is invalid, and for one that is empty.
 */
struct selector_words {
    const char *invalid, *empty;
};
void cell_selector(struct api_row *row, const void *words);
/* A label selector as after -l; false when it is invalid. NULL and {} are "". */
bool label_selector_text(const json_t *selector, struct str *out);

#define COLUMN_NAME                                                                                \
    { "Name", "string", "name", 0, cell_name, NULL, NULL }
#define COLUMN_AGE                                                                                 \
    { "Age", "string", "", 0, cell_age, NULL, NULL }

/* --- the kinds --- */

extern const struct api_table_kind api_table_pod;
/* Arrays of the kinds of a file. */
extern const struct api_table_kind api_tables_core[], api_tables_apps[], api_tables_storage[];
extern const size_t api_tables_core_len, api_tables_apps_len, api_tables_storage_len;

#endif

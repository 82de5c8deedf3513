/* What tests of server-side printing share: an object as JSON with ' for ", and the cells it must
 * have. The time is NOW; ages are made by times like 2026-11-15T07:59:00Z. */
#ifndef TABLE_EXPECT_H
#define TABLE_EXPECT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "sim/api/table.h"

#define NOW "2026-11-15T08:00:00Z"

static inline int64_t time_now(void) {
    int64_t now;
    assert_true(time_parse(NOW, strlen(NOW), &now));
    return now;
}

/* Quotes are written as '. */
static inline json_t *json_of(const char *text) {
    _cleanup_free_ char *copy = xstrdup(text);
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    json_error_t error;
    json_t *value = json_loads(copy, JSON_DECODE_ANY, &error);
    if (!value)
        fail_msg("%s: %s", error.text, copy);
    return value;
}

static inline void expect_json(const json_t *value, const char *wanted) {
    _cleanup_json_ json_t *expected = json_of(wanted);
    if (json_equal(value, expected))
        return;
    char *seen = json_dumps(value, JSON_ENCODE_ANY);
    fail_msg("expected %s\n  but got  %s", wanted, seen);
}

/* The table of one object, parsed. */
static inline json_t *table_of(const struct api_table_kind *kind, const char *object,
                               const struct api_table_options *options) {
    _cleanup_json_ json_t *value = json_of(object);
    _cleanup_str_ struct str out = STR_INIT;
    assert_non_null(kind);
    api_table_object(kind, options, value, (struct view){NULL, 0}, &out);
    json_t *table = json_loads(str_get(&out), 0, NULL);
    assert_non_null(table);
    return table;
}

static inline json_t *row_of(const json_t *table) {
    return json_array_get(json_object_get(table, "rows"), 0);
}

static inline void expect_kind_cells(const struct api_table_kind *kind, const char *object,
                                     const char *cells) {
    struct api_table_options options = {.version = "v1", .now = time_now()};
    _cleanup_json_ json_t *table = table_of(kind, object, &options);
    expect_json(json_object_get(row_of(table), "cells"), cells);
    /* As many as there are columns; and nothing else comes of it when the object is text. */
    assert_int_equal(json_array_size(json_object_get(row_of(table), "cells")),
                     json_array_size(json_object_get(table, "columnDefinitions")));
    _cleanup_json_ json_t *value = json_of(object);
    _cleanup_free_ char *text = json_dumps(value, JSON_INDENT(1));
    _cleanup_str_ struct str out = STR_INIT;
    api_table_object(kind, &options, NULL, view_of(text), &out);
    _cleanup_json_ json_t *again = json_loads(str_get(&out), 0, NULL);
    assert_true(json_equal(table, again));
}

static inline void expect_cells(const char *group, const char *kind, const char *object,
                                const char *cells) {
    expect_kind_cells(api_table_find(group, kind), object, cells);
}

/* "Name:string:name:0 Ready:string::0 ...": the columns' names, types, formats, priorities. */
static inline void expect_columns(const char *group, const char *kind, const char *columns) {
    struct api_table_options options = {.version = "v1", .now = time_now()};
    _cleanup_json_ json_t *table = table_of(api_table_find(group, kind), "{}", &options);
    _cleanup_str_ struct str seen = STR_INIT;
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(table, "columnDefinitions"), i, c) {
        str_addf(&seen, "%s%s:%s:%s:%d", i ? "|" : "", json_str(c, "name"), json_str(c, "type"),
                 json_str(c, "format"), (int)json_integer_value(json_object_get(c, "priority")));
    }
    assert_string_equal(str_get(&seen), columns);
}

/* Whatever is in the object: a row of as many cells as columns. */
static inline void expect_unbroken(const char *group, const char *kind) {
    static const char *const odd[] = {
        "{}",
        "[]",
        "{'metadata':null,'spec':null,'status':null}",
        "{'metadata':7,'spec':'x','status':[1,2]}",
        "{'metadata':{'name':5,'creationTimestamp':7,'labels':[1],'annotations':'x',"
        "'ownerReferences':{'a':1}},'spec':[],'status':true}",
        "{'spec':{'containers':{'a':1},'initContainers':[null,1,'x'],'template':'x','selector':5,"
        "'ports':[null,7],'replicas':'x','drivers':3,'capacity':[],'accessModes':[1,null],"
        "'readinessGates':[null,3],'claimRef':'x'},'status':{'conditions':[null,1,{'type':7}],"
        "'containerStatuses':[null,{'state':[],'restartCount':'x','lastState':3}],"
        "'initContainerStatuses':[7,{'name':null}],'addresses':[null],'podIPs':[3],"
        "'loadBalancer':{'ingress':[null,{'ip':3}]},'capacity':'x','accessModes':7},"
        "'ports':[null,{'port':'x','name':3}],'endpoints':[null,{'addresses':[null,4]}],"
        "'message':7,'series':3,'data':4,'involvedObject':[]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        struct api_table_options options = {.version = "v1", .now = time_now()};
        _cleanup_json_ json_t *table = table_of(api_table_find(group, kind), odd[i], &options);
        assert_int_equal(json_array_size(json_object_get(row_of(table), "cells")),
                         json_array_size(json_object_get(table, "columnDefinitions")));
    }
}

#endif

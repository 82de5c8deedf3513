/* probe tables, probe decode: the tables and the decoders without a cluster. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "kube/stream.h"
#include "probe.h"

static const char *const kind_names[] = {
    [FIELD_STR] = "str",          [FIELD_BOOL] = "bool",
    [FIELD_I32] = "int32",        [FIELD_I64] = "int64",
    [FIELD_OPT_I32] = "optint32", [FIELD_OPT_I64] = "optint64",
    [FIELD_TIME] = "time",        [FIELD_MICROTIME] = "microtime",
    [FIELD_INTSTR] = "intstr",    [FIELD_PRESENT] = "present",
    [FIELD_MSG] = "msg",          [FIELD_PTR] = "ptr",
    [FIELD_LIST] = "list",        [FIELD_STRS] = "strs",
    [FIELD_MAP] = "map",          [FIELD_MAP_QTY] = "mapqty",
    [FIELD_MAP_TIME] = "maptime", [FIELD_OPT_BOOL] = "optbool",
    [FIELD_JSON] = "json",        [FIELD_INTS] = "ints",
};

static void print_type(struct jsonw *w, const struct type *type) {
    jsonw_begin(w, '[');
    for (uint16_t i = 0; i < type->n_fields; i++) {
        const struct field *f = &type->fields[i];
        if (f->flags & FIELD_OWNED)
            continue;
        jsonw_begin(w, '{');
        jsonw_kstr(w, "json", f->json);
        jsonw_kint(w, "pb", f->pb);
        jsonw_kstr(w, "kind", kind_names[f->kind]);
        jsonw_kbool(w, "filtered", f->keep_key || (f->type && f->type->keep));
        if (f->type) {
            jsonw_kstr(w, "message", f->type->name);
            jsonw_key(w, "fields");
            print_type(w, f->type);
        }
        jsonw_end(w);
    }
    jsonw_end(w);
}

int probe_tables(int argc, char **argv) {
    (void)argc;
    (void)argv;
    struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    jsonw_begin(&w, '{');
    for (size_t i = 0; kinds[i]; i++) {
        char version[64];
        jsonw_kbegin(&w, kinds[i]->name, '{');
        jsonw_kstr(&w, "apiVersion", kind_api_version(kinds[i], version));
        jsonw_kstr(&w, "resource", kinds[i]->resource);
        jsonw_kbool(&w, "namespaced", kinds[i]->namespaced);
        jsonw_key(&w, "fields");
        print_type(&w, kinds[i]->type);
        jsonw_end(&w);
    }
    jsonw_kbegin(&w, "Status", '{');
    jsonw_kstr(&w, "apiVersion", "v1");
    jsonw_key(&w, "fields");
    print_type(&w, &type_status);
    jsonw_end(&w);
    jsonw_end(&w);
    puts(str_get(&out));
    str_done(&out);
    return 0;
}

static int read_file(const char *path, struct str *out) {
    FILE *f = fopen(path, "rb");
    char buf[65536];
    size_t n;
    if (!f) {
        fprintf(stderr, "probe: %s: %s\n", path, strerror(errno));
        return -1;
    }
    while ((n = fread(buf, 1, sizeof buf, f)) > 0)
        str_addn(out, buf, n);
    fclose(f);
    return 0;
}

static int decode_status(struct codec *c, enum kube_format format, struct view body,
                         struct jsonw *w, struct err *err) {
    struct status status;
    int rc = kube_decode_status(c, format, body, &status, err);
    if (rc)
        return rc;
    jsonw_begin(w, '{');
    jsonw_kstr(w, "apiVersion", "v1");
    jsonw_kstr(w, "kind", "Status");
    type_print(&type_status, w, &status, NULL);
    jsonw_end(w);
    type_release(&type_status, c->pool, &status, NULL);
    return 0;
}

int probe_decode(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: probe decode KIND json|pb FILE\n");
        return 64;
    }
    const struct kind *kind = kind_find(argv[1]);
    enum kube_format format = strcmp(argv[2], "pb") ? KUBE_JSON : KUBE_PROTOBUF;
    struct str body = STR_INIT, out = STR_INIT;
    if (read_file(argv[3], &body) < 0)
        return 1;
    struct pool *pool = pool_new(type_drop);
    struct codec codec;
    codec_init(&codec, pool);
    struct jsonw w;
    jsonw_init(&w, &out, false);
    _cleanup_err_ struct err err = ERR_INIT;
    struct object *obj = NULL;
    struct view view = {str_get(&body), body.len};
    int rc;
    if (!strcmp(argv[1], "Status")) {
        rc = decode_status(&codec, format, view, &w, &err);
    } else if (!kind) {
        rc = err_set(&err, EINVAL, "no such kind: %s", argv[1]);
    } else if (!(rc = kube_decode(&codec, kind, format, view, &obj, &err))) {
        object_print(kind, &w, obj);
        object_free(kind, pool, obj);
    }
    if (rc)
        fprintf(stderr, "probe: %s\n", err_msg(&err));
    else
        puts(str_get(&out));
    size_t left = pool_stats(pool).entries;
    if (left)
        fprintf(stderr, "probe: %zu pool entries were not given back\n", left);
    codec_done(&codec);
    pool_free(pool);
    str_done(&body);
    str_done(&out);
    return rc || left ? 1 : 0;
}

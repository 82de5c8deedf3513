/* probe own: an object of one of Slipway's own kinds as those who read it see it, with defaults; or
 * what is wrong with it. Reads one object for each line of standard input. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "engine/rules.h"
#include "kube/codec.h"
#include "model/own_read.h"
#include "probe.h"

static int check_drain(const struct policy *p, struct err *err) {
    _cleanup_str_ struct str text = STR_INIT;
    struct rules *rules = NULL;
    policy_drain_rules(p, &text);
    int rc = rules_parse(str_get(&text), text.len, "spec.drain", &rules, err);
    rules_free(rules);
    return rc;
}

static int read_one(struct codec *c, const struct own_resource *r, struct view line,
                    struct jsonw *w, struct err *err) {
    struct object *obj = object_new(r->kind);
    int rc = codec_json(c, r->kind->type, line, obj, err);
    if (!rc)
        rc = own_complete(r, c->pool, obj, err);
    if (!rc && r->kind == &kind_policy)
        rc = check_drain((const struct policy *)obj, err);
    if (!rc)
        object_print(r->kind, w, obj);
    object_free(r->kind, c->pool, obj);
    return rc;
}

int probe_own(int argc, char **argv) {
    const struct own_resource *r = own_resources;
    while (argc == 2 && r->kind && !streq(r->kind->name, argv[1]))
        r++;
    if (argc != 2 || !r->kind) {
        fprintf(stderr, "usage: probe own KIND\n");
        return 64;
    }
    struct pool *pool = pool_new(type_drop);
    struct codec codec;
    codec_init(&codec, pool);
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    while ((n = getline(&line, &size, stdin)) > 0) {
        _cleanup_err_ struct err err = ERR_INIT;
        _cleanup_str_ struct str out = STR_INIT;
        struct jsonw w;
        jsonw_init(&w, &out, false);
        if (read_one(&codec, r, (struct view){line, (size_t)n}, &w, &err)) {
            str_reset(&out);
            jsonw_init(&w, &out, false);
            jsonw_begin(&w, '{');
            jsonw_kstr(&w, "error", err_msg(&err));
            jsonw_end(&w);
        }
        puts(str_get(&out));
    }
    free(line);
    size_t left = pool_stats(pool).entries;
    if (left)
        fprintf(stderr, "probe: %zu pool entries were not given back\n", left);
    codec_done(&codec);
    pool_free(pool);
    return left ? 1 : 0;
}

/* For tests of fit: a small cluster out of JSON (single quotes allowed for double ones), questions
 * about it, and a teardown that fails when a reference was lost. */
#ifndef ENGINE_FIT_SCENE_H
#define ENGINE_FIT_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/fit.h"
#include "kube/codec.h"

struct scene {
    struct pool *pool;
    struct codec codec;
    struct fit *fit;
    struct object *asked; /* the last pod that was asked about */
    struct str text;
    unsigned pods; /* placed by scene_pods() */
};

static inline int scene_setup(void **state) {
    struct scene *s = xnew(struct scene);
    s->pool = pool_new(type_drop);
    codec_init(&s->codec, s->pool);
    s->fit = fit_new(s->pool);
    *state = s;
    return 0;
}

static inline int scene_teardown(void **state) {
    struct scene *s = *state;
    fit_free(s->fit);
    if (s->asked)
        object_free(&kind_pod, s->pool, s->asked);
    size_t left = pool_stats(s->pool).entries;
    if (left)
        fprintf(stderr, "%zu pool entries were not given back\n", left);
    codec_done(&s->codec);
    pool_free(s->pool);
    str_done(&s->text);
    free(s);
    return left ? -1 : 0;
}

#define SCENE_TEST(f) cmocka_unit_test_setup_teardown(f, scene_setup, scene_teardown)

/* To be given back with object_free(). */
static inline void *scene_object(struct scene *s, const struct kind *kind, const char *json) {
    _cleanup_free_ char *text = xstrdup(json);
    _cleanup_err_ struct err err = ERR_INIT;
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct object *obj = object_new(kind);
    memset(obj, 0, kind->type->size);
    if (codec_json(&s->codec, kind->type, view_of(text), obj, &err))
        fail_msg("%s in %s", err_msg(&err), text);
    return obj;
}

__attribute__((format(printf, 3, 4))) static inline void
scene_put(struct scene *s, const struct kind *kind, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *json = xvasprintf(fmt, ap);
    va_end(ap);
    struct object *obj = scene_object(s, kind, json);
    if (kind == &kind_node)
        fit_put_node(s->fit, (const struct node *)obj);
    else if (kind == &kind_pod)
        fit_put_pod(s->fit, (const struct pod *)obj);
    else if (kind == &kind_namespace)
        fit_put_namespace(s->fit, (const struct ns *)obj);
    else if (kind == &kind_pv)
        fit_put_volume(s->fit, (const struct pv *)obj);
    else if (kind == &kind_pvc)
        fit_put_claim(s->fit, (const struct pvc *)obj);
    else if (kind == &kind_csi_node)
        fit_put_csi_node(s->fit, (const struct csi_node *)obj);
    else if (kind == &kind_volume_attachment)
        fit_put_attachment(s->fit, (const struct volume_attachment *)obj);
    else
        fail();
    object_free(kind, s->pool, obj); /* nothing of it may be needed any more */
}

/* A node with these labels ("'zone':'a'") and room for 100 pods that ask for nothing. */
static inline void scene_node(struct scene *s, const char *name, const char *labels) {
    scene_put(s, &kind_node,
              "{'metadata':{'name':'%s','labels':{%s}},'status':{'allocatable':{'pods':'100'}}}",
              name, labels);
}

/* Some pods in namespace d on this node. */
static inline void scene_pods(struct scene *s, unsigned n, const char *node, const char *labels) {
    for (; n; n--)
        scene_put(s, &kind_pod,
                  "{'metadata':{'namespace':'d','name':'placed-%u','uid':'u%u','labels':{%s}},"
                  "'spec':{'nodeName':'%s'}}",
                  s->pods, s->pods, labels, node),
            s->pods++;
}

static inline const struct pod *scene_pod(struct scene *s, const char *json) {
    if (s->asked)
        object_free(&kind_pod, s->pool, s->asked);
    s->asked = scene_object(s, &kind_pod, json);
    return (const struct pod *)s->asked;
}

/* What is wrong with the node for this pod: "" when it fits; else the reasons with "; " between
 * them, and "!" in front when evicting others would not help. Valid until the next. */
static inline const char *scene_why(struct scene *s, const char *node, const char *pod) {
    struct fit_verdict v;
    bool fits = fit_check(s->fit, scene_pod(s, pod), node, &v);
    assert_int_equal(fits, v.n == 0);
    str_reset(&s->text);
    str_add(&s->text, v.final ? "!" : "");
    for (size_t i = 0; i < v.n; i++)
        str_addf(&s->text, "%s%s", i ? "; " : "", v.reasons[i].text);
    return str_get(&s->text);
}

/* "" when it fits somewhere. */
static inline const char *scene_explain(struct scene *s, const char *pod) {
    struct str out = STR_INIT;
    bool none = fit_explain(s->fit, scene_pod(s, pod), &out);
    assert_int_equal(none, out.len > 0);
    str_reset(&s->text);
    str_add(&s->text, str_get(&out));
    str_done(&out);
    return str_get(&s->text);
}

/* "n1:30 n2:40": nodes that fit, in the order in which they were put. */
static inline const char *scene_scores(struct scene *s, const char *pod) {
    size_t n;
    const struct fit_score *list = fit_scores(s->fit, scene_pod(s, pod), &n);
    str_reset(&s->text);
    for (size_t i = 0; i < n; i++)
        str_addf(&s->text, "%s%s:%lld", i ? " " : "", list[i].node, (long long)list[i].score);
    return str_get(&s->text);
}

/* Pods in namespace d: with labels, and the rest of a spec. */
#define POD(labels, spec)                                                                          \
    "{'metadata':{'namespace':'d','name':'new','uid':'new','labels':{" labels "}},'spec':{" spec   \
    "}}"

#define assert_fits(s, node, pod)     assert_string_equal(scene_why(s, node, pod), "")
#define assert_why(s, node, pod, why) assert_string_equal(scene_why(s, node, pod), why)

#endif

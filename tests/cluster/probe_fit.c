/* probe fit: a picture of a cluster without a cluster. Lines of standard input change it or ask:
 *
 *   put OBJECT            a Node, Pod, Namespace, PersistentVolume(Claim), StorageClass, CSINode or
 *                         VolumeAttachment
 *   remove OBJECT
 *   ask POD               one line of JSON: for each node what is wrong with it (an empty list: it
 *                         fits, then with a score), and what the scheduler would say
 *   bind NODE POD         one line: which volumes its claims would be bound to
 *
 * Objects are JSON on one line. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "engine/fit.h"
#include "kube/codec.h"
#include "probe.h"

struct picture {
    struct pool *pool;
    struct codec codec;
    struct fit *fit;
};

/* --- objects --- */

static struct object *decode(struct picture *p, const char *text, const struct kind *kind) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct object *obj = object_new(kind);
    memset(obj, 0, kind->type->size);
    if (codec_json(&p->codec, kind->type, view_of(text), obj, &err)) {
        fprintf(stderr, "probe: %s: %s\n", kind->name, err_msg(&err));
        exit(1);
    }
    return obj;
}

static void put_class(struct picture *p, const struct storage_class *c) {
    struct fit_class class = {
        .name = c->meta.name,
        .waits = str_same(c->binding_mode, "WaitForFirstConsumer"),
        .provisions = c->provisioner && !streq(c->provisioner, "kubernetes.io/no-provisioner"),
        .provisioner = c->provisioner,
        .topologies = c->topologies,
    };
    fit_put_class(p->fit, &class);
}

static void put(struct picture *p, const struct kind *kind, const struct object *obj) {
    if (kind == &kind_node)
        fit_put_node(p->fit, (const struct node *)obj);
    else if (kind == &kind_pod)
        fit_put_pod(p->fit, (const struct pod *)obj);
    else if (kind == &kind_namespace)
        fit_put_namespace(p->fit, (const struct ns *)obj);
    else if (kind == &kind_pv)
        fit_put_volume(p->fit, (const struct pv *)obj);
    else if (kind == &kind_pvc)
        fit_put_claim(p->fit, (const struct pvc *)obj);
    else if (kind == &kind_storage_class)
        put_class(p, (const struct storage_class *)obj);
    else if (kind == &kind_csi_node)
        fit_put_csi_node(p->fit, (const struct csi_node *)obj);
    else if (kind == &kind_volume_attachment)
        fit_put_attachment(p->fit, (const struct volume_attachment *)obj);
}

static void take_away(struct picture *p, const struct kind *kind, const struct meta *meta) {
    if (kind == &kind_node)
        fit_remove_node(p->fit, meta->name);
    else if (kind == &kind_pod)
        fit_remove_pod(p->fit, meta->ns, meta->name);
    else if (kind == &kind_namespace)
        fit_remove_namespace(p->fit, meta->name);
    else if (kind == &kind_pv)
        fit_remove_volume(p->fit, meta->name);
    else if (kind == &kind_pvc)
        fit_remove_claim(p->fit, meta->ns, meta->name);
    else if (kind == &kind_storage_class)
        fit_remove_class(p->fit, meta->name);
    else if (kind == &kind_csi_node)
        fit_remove_csi_node(p->fit, meta->name);
    else if (kind == &kind_volume_attachment)
        fit_remove_attachment(p->fit, meta->name);
}

static void change(struct picture *p, const char *text, bool there) {
    json_t *root = json_loads(text, 0, NULL);
    const char *name = json_string_value(json_object_get(root, "kind"));
    const struct kind *kind = name ? kind_find(name) : NULL;
    if (kind) {
        struct object *obj = decode(p, text, kind);
        if (there)
            put(p, kind, obj);
        else
            take_away(p, kind, &obj->meta);
        object_free(kind, p->pool, obj);
    } else {
        fprintf(stderr, "probe: what is this: %.80s\n", text);
        exit(1);
    }
    json_decref(root);
}

/* --- questions --- */

static void ask(struct picture *p, const char *text) {
    struct object *obj = decode(p, text, &kind_pod);
    const struct pod *pod = (const struct pod *)obj;
    struct str out = STR_INIT, words = STR_INIT;
    struct jsonw w;
    size_t n;
    jsonw_init(&w, &out, false);
    jsonw_begin(&w, '{');
    jsonw_kbegin(&w, "nodes", '{');
    for (size_t i = 0; i < fit_node_count(p->fit); i++) {
        struct fit_verdict v;
        const char *name = fit_node_name(p->fit, i);
        fit_check(p->fit, pod, name, &v);
        jsonw_kbegin(&w, name, '[');
        for (size_t k = 0; k < v.n; k++)
            jsonw_str(&w, v.reasons[k].text);
        jsonw_end(&w);
    }
    jsonw_end(&w);
    jsonw_kbegin(&w, "scores", '{');
    const struct fit_score *scores = fit_scores(p->fit, pod, &n);
    for (size_t i = 0; i < n; i++)
        jsonw_kint(&w, scores[i].node, scores[i].score);
    jsonw_end(&w);
    jsonw_kstr(&w, "place", fit_place(p->fit, pod, 0));
    if (fit_explain(p->fit, pod, &words))
        jsonw_kstr(&w, "message", str_get(&words));
    jsonw_end(&w);
    puts(str_get(&out));
    str_done(&out);
    str_done(&words);
    object_free(&kind_pod, p->pool, obj);
}

static void show_bindings(struct picture *p, char *text) {
    const char *node = strsep(&text, " ");
    struct object *obj = decode(p, text ? text : "{}", &kind_pod);
    struct str out = STR_INIT;
    struct jsonw w;
    size_t n;
    jsonw_init(&w, &out, false);
    const struct fit_binding *list = fit_bindings(p->fit, (const struct pod *)obj, node, &n);
    jsonw_begin(&w, '{');
    for (size_t i = 0; i < n; i++)
        jsonw_kstr(&w, list[i].claim, list[i].volume);
    jsonw_end(&w);
    puts(str_get(&out));
    str_done(&out);
    object_free(&kind_pod, p->pool, obj);
}

int probe_fit(int argc, char **argv) {
    (void)argv;
    struct picture p = {.pool = pool_new(type_drop)};
    char *line = NULL;
    size_t size = 0;
    if (argc != 1) {
        fprintf(stderr, "usage: probe fit < LINES\n");
        return 64;
    }
    codec_init(&p.codec, p.pool);
    p.fit = fit_new(p.pool);
    for (ssize_t len; (len = getline(&line, &size, stdin)) > 0;) {
        char *rest = line;
        if (line[len - 1] == '\n')
            line[len - 1] = '\0';
        const char *word = strsep(&rest, " ");
        if (rest && (!strcmp(word, "put") || !strcmp(word, "remove")))
            change(&p, rest, *word == 'p');
        else if (rest && !strcmp(word, "ask"))
            ask(&p, rest);
        else if (rest && !strcmp(word, "bind"))
            show_bindings(&p, rest);
        fflush(stdout);
    }
    free(line);
    fit_free(p.fit);
    codec_done(&p.codec);
    pool_free(p.pool);
    return 0;
}

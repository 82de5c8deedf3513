/* Maintenances in the world of support/keeper_world.h, for tests of how they are kept. */
#ifndef SUPPORT_UPKEEP_WORLD_H
#define SUPPORT_UPKEEP_WORLD_H

#include "support/keeper_world.h"

#define WAY_THERE "Queued Draining Granted Operating"
#define WAY_BACK  "Returning Restoring Uncordoning Settling Complete"

static inline json_t *doc_of(struct kw *w, const char *name) {
    return kw_doc(w, &kind_maintenance, NULL, name);
}

static inline void upkeep(struct kw *w, const char *name, const char *node, const char *operation) {
    kw_put(w, &kind_maintenance,
           "{'metadata':{'name':'%s','uid':'uid-%s','generation':1},'spec':{'node':'%s',"
           "'operation':'%s','policy':'default'}}",
           name, name, node, operation);
}

static inline void say(struct kw *w, const char *name, const char *word) {
    kw_edit(w, &kind_maintenance, NULL, name,
            "{'metadata':{'annotations':{'" OWN_WORD_ANNOTATION "':'%s'}}}", word);
}

static inline const char *word_of(struct kw *w, const char *name) {
    json_t *annotations = dw_at(doc_of(w, name), "metadata.annotations");
    return strna(json_string_value(json_object_get(annotations, OWN_WORD_ANNOTATION)));
}

static inline void pause_it(struct kw *w, const char *name, bool paused) {
    kw_edit(w, &kind_maintenance, NULL, name, "{'spec':{'paused':%s}}", paused ? "true" : "false");
}

static inline const char *blocker(struct kw *w, const char *name, const char *field) {
    _cleanup_free_ char *path = xasprintf("status.blocker.%s", field);
    return dw_str(doc_of(w, name), path);
}

static inline const char *reason(struct kw *w, const char *name) {
    return dw_str(doc_of(w, name), "status.reason");
}

static inline const char *phase(struct kw *w, const char *name) {
    json_t *doc = doc_of(w, name);
    return doc ? dw_str(doc, "status.phase") : "gone";
}

#define assert_in(w, name, text) assert_string_equal(phase(w, name), text)

/* Where it has been, in order. Valid until the next call. */
static inline const char *journal(struct kw *w, const char *name) {
    static char text[512];
    size_t i, at = 0;
    json_t *one;
    text[0] = '\0';
    json_array_foreach(dw_at(doc_of(w, name), "status.journal"), i, one) at +=
        (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? " " : "", dw_str(one, "to"));
    return text;
}

static inline unsigned operations(struct kw *w, const char *name) {
    _cleanup_free_ char *line = xasprintf("%s\n", name);
    return dw_count(&w->operated, line);
}

/* Round by round, until it is there. */
static inline void until(struct kw *w, const char *name, const char *want) {
    for (unsigned i = 0; i < 1000 && !streq(phase(w, name), want); i++) {
        for (unsigned j = 0; j < w->n; j++)
            kw_round(&w->r[j]);
        kw_set_time(w, w->now.mono + MSEC(5));
    }
    assert_in(w, name, want);
}

static inline void come_back(struct kw *w, const char *node) {
    kw_set_time(w, w->now.mono + SEC(30));
    kw_reboot(w, node, 2);
    kw_pass(w, SEC(5));
}

static inline void start(struct kw *w, const char *operation) {
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    upkeep(w, "m1", "w1", operation);
}

static inline void operating(struct kw *w) {
    start(w, "Reboot");
    kw_pass(w, SEC(5));
    assert_in(w, "m1", "Operating");
    assert_int_equal(operations(w, "m1"), 1);
}

static inline void halted(struct kw *w) {
    operating(w);
    keeper_operated(w->r[0].k, "m1", "the plug does not answer");
    kw_pass(w, SEC(60)); /* its node would be seen by now to have gone */
    assert_in(w, "m1", "Halted");
}

/* Nothing of it is left, but maybe its object. */
static inline void assert_put_back(struct kw *w, const char *node) {
    assert_slots(w, "");
    assert_false(kw_is_cordoned(w, node));
    assert_string_equal(kw_cordon(w, node), "");
}

static inline void next_leader(struct kw *w) {
    kw_kill(w, 0);
    keeper_lead(w->r[1].k, 2);
}

#endif

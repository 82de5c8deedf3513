/* Reads what the checks decide by, and waits for it. */
#include "cli/checks_read.h"

static void on_ready(void *arg) {
    loop_stop(((struct checks_read *)arg)->session->loop);
}

static bool has_etcd(void *arg) {
    const struct checks_read *r = arg;
    const struct object *obj;
    if (!r->opts->pods)
        return true;
    for (uint32_t i = 0; (obj = store_next(r->opts->pods, &i));)
        if (check_is_etcd((const struct pod *)obj))
            return true;
    return false;
}

void checks_read(struct checks_read *r, struct session *session,
                 const struct checks_read_opts *opts) {
    r->session = session;
    r->opts = opts;
    r->feed = checks_feed_new(&session->conn.client, &(struct checks_feed_opts){
                                                         .once = true,
                                                         .etcd = has_etcd,
                                                         .remarks = opts->remarks,
                                                         .skip = opts->skip,
                                                         .nodes = opts->nodes,
                                                         .seed = (uint64_t)loop_now(session->loop),
                                                         .ready = on_ready,
                                                         .arg = r,
                                                     });
    r->world = checks_feed_world(r->feed);
    while (!checks_feed_ready(r->feed))
        session_wait(session);
    r->opts = NULL;
}

static bool is_asked(const struct check_request *req, const char *name) {
    for (size_t i = 0; i < req->n_going; i++)
        if (streq(req->going[i], name))
            return true;
    for (size_t i = 0; i < req->n_back; i++)
        if (streq(req->back[i], name))
            return true;
    return false;
}

void checks_read_out(struct checks_read *r, struct check_request *req) {
    size_t held = 0;
    const char *const *all = checks_held(r->world->nodes, &r->arena, &held);
    const char **out = arena_alloc(&r->arena, (held + 1) * sizeof *out);
    req->n_out = 0;
    for (size_t i = 0; i < held; i++)
        if (req->alone || !is_asked(req, all[i]))
            out[req->n_out++] = all[i];
    req->out = out;
}

void checks_read_done(struct checks_read *r) {
    checks_feed_free(r->feed);
    arena_done(&r->arena);
}

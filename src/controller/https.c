/* FleetLock over HTTPS. */
#include "controller/https.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "controller/certs.h"
#include "net/authority.h"

enum {
    FILES_EVERY_S = 30, /* kubelet itself takes a minute to bring a Secret into a pod */
    PEM_MAX = 1 << 20,  /* bytes of a certificate, or a key */
};

struct https {
    struct fleetlock_server *server;
    struct https_opts opts;
    struct httpd_listener *listener; /* NULL: there is no certificate yet */
    struct certs *certs;
    struct loop_timer *timer;
    struct cert_pair files; /* as they were used, or found useless, last */
};

static int use(void *arg, const struct httpd_tls *tls, struct err *err) {
    struct https *h = arg;
    if (h->listener)
        return httpd_listener_renew(h->listener, tls, err);
    int rc = fleetlock_server_listen(h->server, h->opts.address, tls, &h->listener, err);
    if (!rc)
        log_info(h->opts.log, "FleetLock over HTTPS at %s", httpd_listener_address(h->listener));
    return rc;
}

/* --- files --- */

static int read_files(const struct https *h, struct cert_pair *out, struct err *err) {
    _cleanup_cert_pair_ struct cert_pair found = {0};
    size_t len;
    int rc = file_read(h->opts.cert, PEM_MAX, &found.cert, &len, err);
    if (!rc)
        rc = file_read(h->opts.key, PEM_MAX, &found.key, &len, err);
    if (rc)
        return rc;
    cert_pair_done(out);
    *out = (struct cert_pair){TAKE_PTR(found.cert), TAKE_PTR(found.key)};
    return 0;
}

static void on_timer(void *arg) {
    struct https *h = arg;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_cert_pair_ struct cert_pair found = {0};
    loop_timer_set(h->timer, h->opts.every);
    int rc = read_files(h, &found, &err);
    if (!rc && str_same(found.cert, h->files.cert) && str_same(found.key, h->files.key))
        return;
    if (!rc)
        rc = use(h, &(struct httpd_tls){found.cert, found.key}, &err);
    if (rc) { /* one of them may be there and the other not yet */
        log_warn(h->opts.log, "HTTPS: goes on with the certificate that it has: %s", err_msg(&err));
        return;
    }
    log_info(h->opts.log, "HTTPS: has taken the certificate that is in %s now", h->opts.cert);
    cert_pair_done(&h->files);
    h->files = (struct cert_pair){TAKE_PTR(found.cert), TAKE_PTR(found.key)};
}

/* --- life --- */

static int begin(struct https *h, struct kube_client *client, struct err *err) {
    if (!h->opts.cert) {
        h->certs = certs_new(client, &(struct certs_opts){.ns = h->opts.ns,
                                                          .service = h->opts.service,
                                                          .log = h->opts.log,
                                                          .have = use,
                                                          .arg = h,
                                                          .seed = h->opts.seed});
        return 0;
    }
    int rc = read_files(h, &h->files, err);
    if (!rc)
        rc = use(h, &(struct httpd_tls){h->files.cert, h->files.key}, err);
    if (rc)
        return rc;
    h->timer = loop_timer_new(client->loop, on_timer, h);
    loop_timer_set(h->timer, h->opts.every);
    return 0;
}

int https_new(struct kube_client *client, struct fleetlock_server *server,
              const struct https_opts *opts, struct https **out, struct err *err) {
    struct https *h = xnew(struct https);
    h->server = server;
    h->opts = *opts;
    h->opts.every = opts->every ? opts->every : SEC(FILES_EVERY_S);
    int rc = begin(h, client, err);
    if (rc) {
        https_free(h);
        return rc;
    }
    *out = h;
    return 0;
}

const char *https_problem(const struct https *h) {
    const char *trouble = h->certs ? certs_trouble(h->certs) : NULL;
    if (h->listener)
        return NULL;
    return trouble ? trouble : "there is no certificate yet";
}

void https_free(struct https *h) {
    if (!h)
        return;
    certs_free(h->certs);
    loop_timer_free(h->timer);
    cert_pair_done(&h->files);
    free(h);
}

/* A server and a client of it, ready to be tested: event loop, CA, certificate, scripted server,
 * configuration, credentials, libcurl transport. */
#ifndef SUPPORT_SITE_H
#define SUPPORT_SITE_H

#include "base/log.h"
#include "kube/auth.h"
#include "kube/config.h"
#include "kube/transport_curl.h"
#include "support/calls.h"
#include "support/pki.h"
#include "support/server.h"

struct site {
    struct loop *loop;
    struct pki_ca *ca;
    struct pki_pair cert; /* for 127.0.0.1, localhost and site.example */
    struct server *server;
    struct kube_config config; /* server and CA are filled in; strings must outlive the site */
    struct kube_auth *auth;
    struct kube_transport *t;
    char dir[32]; /* for files; site_done() removes what is in it */
    struct log log;
    int log_fd[2];
};

void site_init(struct site *s);
/* Starts the server, with TLS unless `plain`; `opts` needs no certificate. */
void site_serve(struct site *s, bool plain, const struct server_options *opts);
/* Makes the transport; with `auth` credentials are taken from the configuration. */
void site_connect(struct site *s, bool auth, const struct kube_curl_options *opts);
/* Both, without credentials. */
void site_start(struct site *s, server_fn *handle, void *arg);
void site_done(struct site *s);

/* Writes a file in s->dir by renaming a new one over it; returns its path, to be freed. */
char *site_file(struct site *s, const char *name, const char *text);
/* What was logged since the last time; to be freed. */
char *site_logged(struct site *s);

#endif

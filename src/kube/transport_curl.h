/* The transport to a real API server: libcurl on the event loop.
 *
 * Lanes never share a connection. CALL has a pool of at most six HTTP/1.1 connections (or, when
 * asked for, HTTP/2 on at most two), kept open between calls; a call that finds all of them busy
 * waits for its turn. Each WATCH and the LEASE lane use HTTP/1.1 connections of their own. TLS
 * sessions are resumed.
 *
 * What it does by itself: it gets credentials before each request; on 401 it asks for others and
 * sends the request once more (before anything was handed to the handler); it sends a GET again
 * when an idle connection turns out to be dead. It never repeats a write that the server may have
 * seen, never follows a redirect, never retries anything else: that is the caller's to decide.
 *
 * A peer that vanished without a word is noticed after 30 seconds (TCP_USER_TIMEOUT, keepalive). */
#ifndef KUBE_TRANSPORT_CURL_H
#define KUBE_TRANSPORT_CURL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "kube/auth.h"
#include "kube/config.h"
#include "kube/transport.h"
#include "net/loop.h"

/* All zero is fine, and so is NULL. */
struct kube_curl_options {
    const char *user_agent;  /* NULL: "slipway" */
    int64_t connect_timeout; /* microseconds for DNS, TCP, proxy and TLS; 0: 30 s */
    int64_t timeout;         /* for calls and leases that name none themselves; 0: none */
    bool http2;              /* HTTP/2 for the CALL lane, where the server speaks it */
    bool compress;           /* ask for gzip (a slow line), unless the config forbids it */
    /* Each text of a Warning header, as it comes; may be NULL. It must not touch the transport. */
    void (*warned)(void *arg, const char *text);
    void *warned_arg;
    int trace; /* from 6 on: what goes over the wire, on the log's descriptor (kube/curl_trace.h) */
};

/* `loop`, `config`, `auth` and `log` must outlive it; `auth` may be NULL (anonymous). At level
 * debug `log` gets a line for each request, unless there is a trace.
 *
 * A request's `timeout` runs from the moment its credentials are there (a plugin may ask a human);
 * `idle` from the last byte, or from there too. Fails with -EINVAL when the configuration cannot be
 * used, or with the error of reading the CA. */
int kube_transport_curl_new(struct loop *loop, const struct kube_config *config,
                            struct kube_auth *auth, const struct kube_curl_options *opts,
                            const struct log *log, struct kube_transport **out, struct err *err);

#endif

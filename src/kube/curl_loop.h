/* One libcurl multi handle on our event loop: sockets through libevent, time through loop timers.
 *
 * libcurl calls back (headers, data) from inside curl_multi_socket_action() and forbids to remove a
 * transfer meanwhile. curl_loop_inside() says so; whoever wants to remove one then waits for the
 * `after` event, which comes when libcurl has returned. */
#ifndef KUBE_CURL_LOOP_H
#define KUBE_CURL_LOOP_H

#include <curl/curl.h>
#include <stdbool.h>

#include "base/err.h"
#include "net/loop.h"

struct curl_loop;

struct curl_loop_events {
    /* The transfer ended. It is still in the multi handle: the receiver removes it. */
    void (*done)(void *arg, CURL *easy, CURLcode result);
    /* libcurl has returned and all `done` were told. Here, and only here, the receiver may free the
     * curl_loop itself. */
    void (*after)(void *arg);
};

/* `loop` must be a real one (loop_base() is not NULL). */
int curl_loop_new(struct loop *loop, const struct curl_loop_events *events, void *arg,
                  struct curl_loop **out, struct err *err);
/* All transfers must have been removed. Closes the connections; takes NULL. */
void curl_loop_free(struct curl_loop *cl);

/* For settings. */
CURLM *curl_loop_multi(struct curl_loop *cl);

/* Starts the transfer from the loop, calling nothing back at once. Not while curl_loop_inside(). */
int curl_loop_add(struct curl_loop *cl, CURL *easy, struct err *err);
/* Ends it; `done` is not called. Not while curl_loop_inside(), except from `done`. */
void curl_loop_remove(struct curl_loop *cl, CURL *easy);

bool curl_loop_inside(const struct curl_loop *cl);

#endif

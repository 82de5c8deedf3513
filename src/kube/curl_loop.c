/* One libcurl multi handle on our event loop. */
#include "kube/curl_loop.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>

#include "base/mem.h"
#include "base/timefmt.h"

/* A socket that libcurl wants to hear about. */
struct watched {
    struct curl_loop *cl;
    struct watched *prev, *next;
    struct event *event;
    short what;
};

struct curl_loop {
    struct loop *loop;
    const struct curl_loop_events *events;
    void *arg;
    CURLM *multi;
    struct loop_timer *timer;
    struct watched *sockets;
    bool inside;
};

static void watched_free(struct watched *w) {
    if (w->event)
        event_free(w->event);
    if (w->prev)
        w->prev->next = w->next;
    else
        w->cl->sockets = w->next;
    if (w->next)
        w->next->prev = w->prev;
    free(w);
}

/* Lets libcurl work and tells what came of it. Nothing may touch `cl` afterwards. */
static void act(struct curl_loop *cl, curl_socket_t fd, int mask) {
    int running;
    cl->inside = true;
    curl_multi_socket_action(cl->multi, fd, mask, &running);
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(cl->multi, &left));)
        if (m->msg == CURLMSG_DONE)
            cl->events->done(cl->arg, m->easy_handle, m->data.result);
    cl->inside = false;
    cl->events->after(cl->arg);
}

static void on_socket(evutil_socket_t fd, short what, void *arg) {
    struct watched *w = arg;
    int mask = (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0);
    act(w->cl, fd, mask);
}

static void on_timer(void *arg) {
    act(arg, CURL_SOCKET_TIMEOUT, 0);
}

static int socket_wanted(CURL *easy, curl_socket_t fd, int poll, void *arg, void *socket_arg) {
    (void)easy;
    struct curl_loop *cl = arg;
    struct watched *w = socket_arg;
    if (poll == CURL_POLL_REMOVE) {
        if (w)
            watched_free(w);
        return 0;
    }
    short what = (short)(EV_PERSIST | (poll != CURL_POLL_OUT ? EV_READ : 0) |
                         (poll != CURL_POLL_IN ? EV_WRITE : 0));
    if (w && w->what == what)
        return 0;
    if (!w) {
        w = xnew(struct watched);
        w->cl = cl;
        w->next = cl->sockets;
        if (w->next)
            w->next->prev = w;
        cl->sockets = w;
        curl_multi_assign(cl->multi, fd, w);
    } else if (w->event) {
        event_free(w->event);
    }
    w->what = what;
    w->event = event_new(loop_base(cl->loop), fd, what, on_socket, w);
    /* -1 makes libcurl fail its transfers: better than one that never hears of its socket. */
    return w->event && event_add(w->event, NULL) == 0 ? 0 : -1;
}

static int timer_wanted(CURLM *multi, long msec, void *arg) {
    (void)multi;
    struct curl_loop *cl = arg;
    if (msec < 0)
        loop_timer_stop(cl->timer);
    else
        loop_timer_set(cl->timer, MSEC(msec));
    return 0;
}

int curl_loop_new(struct loop *loop, const struct curl_loop_events *events, void *arg,
                  struct curl_loop **out, struct err *err) {
    assert(loop_base(loop));
    CURLM *multi = curl_multi_init();
    if (!multi)
        return err_set(err, EIO, "cannot set up HTTP (are file descriptors used up?)");
    struct curl_loop *cl = xnew(struct curl_loop);
    *cl = (struct curl_loop){.loop = loop, .events = events, .arg = arg, .multi = multi};
    cl->timer = loop_timer_new(loop, on_timer, cl);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket_wanted);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, cl);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer_wanted);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, cl);
    *out = cl;
    return 0;
}

void curl_loop_free(struct curl_loop *cl) {
    if (!cl)
        return;
    assert(!cl->inside);
    /* Calls socket_wanted() for what is still open. */
    curl_multi_cleanup(cl->multi);
    while (cl->sockets)
        watched_free(cl->sockets);
    loop_timer_free(cl->timer);
    free(cl);
}

CURLM *curl_loop_multi(struct curl_loop *cl) {
    return cl->multi;
}

int curl_loop_add(struct curl_loop *cl, CURL *easy, struct err *err) {
    CURLMcode r = curl_multi_add_handle(cl->multi, easy);
    if (r != CURLM_OK)
        return err_set(err, EIO, "cannot start the request: %s", curl_multi_strerror(r));
    return 0;
}

void curl_loop_remove(struct curl_loop *cl, CURL *easy) {
    curl_multi_remove_handle(cl->multi, easy);
}

bool curl_loop_inside(const struct curl_loop *cl) {
    return cl->inside;
}

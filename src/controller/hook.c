/* HTTP hooks. */
#include "controller/hook.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "kube/client.h"
#include "kube/curl_loop.h"

enum {
    CONNECT_S = 10,
    WHOLE_S = 60,
    SAID_MAX = 4096, /* of the answer: enough to tell what it is */
};

struct hooks {
    struct curl_loop *curl;
};

struct hook {
    struct hooks *hooks;
    CURL *easy;
    struct curl_slist *headers;
    struct str said;
    hook_fn *fn;
    void *arg;
};

static void hook_free(struct hook *x) {
    curl_easy_cleanup(x->easy);
    curl_slist_free_all(x->headers);
    str_done(&x->said);
    free(x);
}

/* The rest of a long answer is thrown away. */
static size_t on_data(char *data, size_t size, size_t n, void *arg) {
    struct hook *x = arg;
    size_t room = x->said.len < SAID_MAX ? SAID_MAX - x->said.len : 0;
    str_addn(&x->said, data, MIN_OF(size * n, room));
    return size * n;
}

static void done(void *arg, CURL *easy, CURLcode result) {
    const struct hooks *h = arg;
    struct hook *x = NULL;
    long code = 0;
    _cleanup_str_ struct str why = STR_INIT;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &x);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    if (result != CURLE_OK) {
        str_addf(&why, "the hook cannot be reached: %s", curl_easy_strerror(result));
    } else if (code < 200 || code > 299) {
        _cleanup_free_ char *said = kube_snippet(&x->said);
        str_addf(&why, "the hook has answered %ld%s%s", code, *said ? ": " : "", said);
    }
    curl_loop_remove(h->curl, easy);
    hook_fn *fn = x->fn;
    void *fn_arg = x->arg;
    hook_free(x);
    fn(fn_arg, why.len ? str_get(&why) : NULL);
}

static void after(void *arg) {
    (void)arg;
}

int hooks_new(struct loop *loop, struct hooks **out, struct err *err) {
    static const struct curl_loop_events events = {.done = done, .after = after};
    struct hooks *h = xnew(struct hooks);
    int rc = curl_loop_new(loop, &events, h, &h->curl, err);
    if (rc) {
        free(h);
        return rc;
    }
    *out = h;
    return 0;
}

void hooks_free(struct hooks *h) {
    if (!h)
        return;
    curl_loop_free(h->curl);
    free(h);
}

static void set_up(struct hook *x, const char *url, const char *body) {
    x->headers = curl_slist_append(NULL, "Content-Type: application/json");
    x->headers = curl_slist_append(x->headers, "Expect:"); /* no 100 Continue */
    curl_easy_setopt(x->easy, CURLOPT_URL, url);
    curl_easy_setopt(x->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(x->easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(x->easy, CURLOPT_COPYPOSTFIELDS, body);
    curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, x->headers);
    curl_easy_setopt(x->easy, CURLOPT_USERAGENT, "slipway/" SLIPWAY_VERSION);
    curl_easy_setopt(x->easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(x->easy, CURLOPT_TIMEOUT, (long)WHOLE_S);
    curl_easy_setopt(x->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(x->easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(x->easy, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(x->easy, CURLOPT_PRIVATE, x);
}

int hook_start(struct hooks *h, const char *url, const char *body, hook_fn *fn, void *arg,
               struct hook **out, struct err *err) {
    struct hook *x = xnew(struct hook);
    *x = (struct hook){.hooks = h, .said = STR_INIT, .fn = fn, .arg = arg};
    x->easy = curl_easy_init();
    if (!x->easy) {
        free(x);
        return err_set(err, ENOMEM, "no memory for a request");
    }
    set_up(x, url, body);
    int rc = curl_loop_add(h->curl, x->easy, err);
    if (rc) {
        hook_free(x);
        return rc;
    }
    *out = x;
    return 0;
}

void hook_cancel(struct hook *x) {
    if (!x)
        return;
    curl_loop_remove(x->hooks->curl, x->easy);
    hook_free(x);
}

/* Tests of kube/stream: lists and watches in JSON, and what both formats share. */
#include "kube/stream.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/feed.h"
#include "../support/pbwrite.h"

#define NODE(name)                                                                                 \
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name                      \
    "\"},\"spec\":{},\"status\":{\"nodeInfo\":{}}}"

static struct feed node_list(void) {
    return (struct feed){.kind = &kind_node, .format = KUBE_JSON, .mode = STREAM_LIST};
}

static struct feed node_watch(void) {
    return (struct feed){.kind = &kind_node, .format = KUBE_JSON, .mode = STREAM_WATCH};
}

static bool never(size_t n) {
    (void)n;
    return false;
}

/* --- lists --- */

static const char list[] =
    "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"77\","
    "\"continue\":\"tok\",\"remainingItemCount\":5},\"items\":["
    "{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"}]{[\\\"\"}},\"spec\":{\"unschedulable\":"
    "true}},"
    "{\"metadata\":{\"name\":\"b\",\"managedFields\":[{\"f:x\":{}}]}},{}]}\n";

static const char list_log[] =
    "ADDED {\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\",\"labels\":"
    "{\"x\":\"}]{[\\\"\"}},\"spec\":{\"unschedulable\":true},\"status\":{\"nodeInfo\":{}}}\n"
    "ADDED " NODE("b") "\n"
                       "ADDED {\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{},\"spec\":{},"
                       "\"status\":{\"nodeInfo\":{}}}\n"
                       "LIST version=77 continue=tok remaining=5\n";

static void lists(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
    feed_good(&f, view_of(list), list_log);
}

static void pretty_lists(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
    feed_good(
        &f,
        VIEW(
            "\n {\n  \"kind\": \"NodeList\" ,\r\n  \"metadata\" : { \"resourceVersion\": \"1\" },\n"
            "\t\"items\": [\n    {\n      \"metadata\": {\n        \"name\": \"a\"\n      }\n"
            "    } ,\n\n    { \"metadata\": { \"name\": \"b\" } }\n  ]\n}\n\n  "),
        "ADDED " NODE("a") "\nADDED " NODE("b") "\nLIST version=1\n");
}

/* Members in any order and of any kind; the last metadata counts. */
static void other_members(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
    feed_good(
        &f,
        VIEW("{\"items\":[{\"metadata\":{\"name\":\"a\"}}],\"a\":1,\"b\":null,\"c\":true "
             ",\"d\":-1.5e3,"
             "\"e\":\"items\",\"f\":[{\"items\":[1]}],\"g\":{\"kind\":\"x\",\"h\":\"}\\\\\\\"\"},"
             "\"metadata\":{\"resourceVersion\":\"8\"},\"kind\":\"NodeList\",\"\":\"\","
             "\"metadata\":{\"resourceVersion\":\"9\"}}"),
        "ADDED " NODE("a") "\nLIST version=9\n");
}

static void empty_lists(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
    static const char *const texts[] = {
        "{\"kind\":\"NodeList\",\"metadata\":{\"resourceVersion\":\"3\"},\"items\":[]}",
        "{\"kind\":\"NodeList\",\"metadata\":{\"resourceVersion\":\"3\"},\"items\":null}",
        "{\"kind\":\"NodeList\",\"items\":[ ],\"metadata\":{\"resourceVersion\":\"3\"}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        feed_good(&f, view_of(texts[i]), "LIST version=3\n");
    feed_good(&f, VIEW("{\"kind\":\"NodeList\",\"metadata\":{},\"items\":[]}"), "LIST version=\n");
    feed_good(&f, VIEW("{\"kind\":\"NodeList\",\"items\":[]}"), "LIST version=\n");
}

static void truncated_lists(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
    feed_truncated(&f, (struct view){list, sizeof list - 2}, never); /* without the newline */
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(feed_run(&f, (struct view){list, 200}, FEED_WHOLE, &err), -EPIPE);
    assert_string_equal(err_msg(&err), "the list broke off before its end");
    assert_int_equal(feed_run(&f, (struct view){list, 0}, FEED_WHOLE, &err), -EPIPE);
}

static void no_lists(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
    static const char no_json[] = "the server's answer is not the JSON of a list",
                      no_list[] = "the server's answer is not a Kubernetes list";
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"<html></html>", no_json},
        {"[]", no_json},
        {"null", no_json},
        {"404 page not found\n", no_json},
        {"{}", no_list},
        {"{\"kind\":\"NodeList\"}", no_list},
        {"{\"items\":[]}", no_list},
        {"{\"kind\":\"PodList\",\"items\":[]}",
         "expected a NodeList, the server sent a \"PodList\""},
        {"{\"kind\":\"Node\",\"items\":[]}", "expected a NodeList, the server sent a \"Node\""},
        {"{\"kind\":\"NodeLists\"}", "expected a NodeList, the server sent a \"NodeLists\""},
        {"{\"kind\":\"\"}", "expected a NodeList, the server sent a \"\""},
        {"{\"kind\":null}", "expected a NodeList, the server sent a \"null\""},
        {"{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":410}",
         "expected a NodeList, the server sent a \"Status\""},
        {"{\"kind\":\"NodeList\",\"items\":{}}", "the items of a list are no array"},
        {"{\"kind\":\"NodeList\",\"items\":\"x\"}", "the items of a list are no array"},
        {"{\"kind\":\"NodeList\",\"items\":7}", "the items of a list are no array"},
        {"{\"kind\":\"NodeList\",\"items\":[]}x", "something follows the list"},
        {"{\"kind\":\"NodeList\",\"items\":[]}{}", "something follows the list"},
        {"{\"kind\":\"NodeList\",\"items\":[]}]", "something follows the list"},
        {"{\"kind\":\"NodeList\",\"items\":[1]}", no_json},
        {"{\"kind\":\"NodeList\",\"items\":[null]}", no_json},
        {"{\"kind\":\"NodeList\",\"items\":[,{}]}", no_json},
        {"{\"kind\":\"NodeList\",\"items\":}", no_json},
        {"{\"kind\":\"NodeList\",\"items\"}", no_json},
        {"{\"kind\":\"NodeList\",,\"items\":[]}", no_json},
        {"{\"kind\":\"NodeList\",}", no_json},
        {"{\"kind\":\"NodeList\" \"items\":[]}", no_json},
        {"{\"x\":]}", no_json},
        {"{\"x\":,\"kind\":\"NodeList\"}", no_json},
        {"{kind:\"NodeList\"}", no_json},
        {"{,}", no_json},
        {"{\"kind\":\"NodeList\",\"metadata\":5}",
         "cannot read the metadata of a list: bad JSON at byte 0: unexpected character"},
        {"{\"kind\":\"NodeList\",\"metadata\":{]}",
         "cannot read the metadata of a list: bad JSON at byte 1: unexpected character"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        feed_bad(&f, view_of(cases[i].text), EBADMSG, cases[i].message, "");
}

/* What came before a broken item has been handed on. */
static void broken_items(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
#define START "{\"kind\":\"NodeList\",\"items\":[{\"metadata\":{\"name\":\"a\"}}"
    feed_bad(&f, VIEW(START ",{\"spec\":5}]}"), EBADMSG,
             "cannot read a Node: spec: expected an object, found a number",
             "ADDED " NODE("a") "\n");
    feed_bad(&f, VIEW(START ",{\"spec\":]}]}"), EBADMSG,
             "cannot read a Node: spec: bad JSON at byte 8: unexpected character",
             "ADDED " NODE("a") "\n");
    /* the object and the field are named, whatever comes first */
    feed_bad(
        &f, VIEW(START ",{\"spec\":{\"unschedulable\":\"no\"},\"metadata\":{\"name\":\"b\"}}]}"),
        EBADMSG, "cannot read Node b: spec.unschedulable: expected true or false, found a string",
        "ADDED " NODE("a") "\n");
    feed_bad(&f,
             VIEW(START ",{\"metadata\":{\"name\":\"b\",\"namespace\":\"x\"},\"status\":{"
                        "\"conditions\":[{\"type\":1}]}}]}"),
             EBADMSG,
             "cannot read Node x/b: status.conditions.type: expected a string, found a number",
             "ADDED " NODE("a") "\n");
    feed_bad(&f, VIEW(START ",]}"), EBADMSG, "the server's answer is not the JSON of a list",
             "ADDED " NODE("a") "\n");
    feed_bad(&f, VIEW(START "{}]}"), EBADMSG, "the server's answer is not the JSON of a list",
             "ADDED " NODE("a") "\n");
    feed_bad(&f, VIEW(START "}}"), EBADMSG, "the server's answer is not the JSON of a list",
             "ADDED " NODE("a") "\n");
#undef START
}

static void receiver_stops(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list(), w = node_watch();
    f.stop_after = 2;
    for (size_t i = 0; i < ARRAY_LEN(feed_ways); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        assert_int_equal(feed_run(&f, view_of(list), feed_ways[i], &err), -ECANCELED);
        assert_string_equal(err_msg(&err), "the receiver stopped the stream");
        assert_int_equal(f.objects, 2);
    }
    w.stop_after = -1;
    feed_bad(&w,
             VIEW("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":"
                  "\"Expired\",\"message\":\"too old\"}}{\"type\":\"ADDED\""),
             ECANCELED, "the receiver stopped the stream", "ERROR 410 Expired: too old\n");
}

/* --- watches --- */

#define EVENT(type, name)                                                                          \
    "{\"type\":\"" type "\",\"object\":{\"kind\":\"Node\",\"apiVersion\":\"v1\","                  \
    "\"metadata\":{\"name\":\"" name "\"}}}"

static void watches(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_watch();
    static const char log[] =
        "ADDED " NODE("a") "\nMODIFIED " NODE("b") "\nDELETED " NODE("c") "\n";
    feed_good(&f,
              VIEW(EVENT("ADDED", "a") "\n" EVENT("MODIFIED", "b") "\n" EVENT("DELETED", "c") "\n"),
              log);
    feed_good(&f, VIEW(EVENT("ADDED", "a") EVENT("MODIFIED", "b") EVENT("DELETED", "c")), log);
    feed_good(&f, VIEW(""), "");
    feed_good(&f, VIEW("\n\n \r\n"), "");
}

static void event_forms(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_watch();
    /* The object first, noise between, blanks. */
    feed_good(&f,
              VIEW("{\"object\":{\"metadata\":{\"name\":\"a\"},\"x\":\"\\\"}{\",\"kind\":\"Node\"},"
                   "\"noise\":[{}], \"type\" : \"ADDED\"}\n"
                   " {\n  \"type\": \"MODIFIED\",\n  \"object\": {\n    \"kind\": \"Node\",\n"
                   "    \"metadata\": {\"name\": \"b\"}\n  }\n }\n"),
              "ADDED " NODE("a") "\nMODIFIED " NODE("b") "\n");
    feed_good(&f,
              VIEW("{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Node\",\"apiVersion\":\"v1\","
                   "\"metadata\":{\"resourceVersion\":\"12746\",\"annotations\":"
                   "{\"k8s.io/initial-events-end\":\"true\"}}}}"),
              "BOOKMARK {\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"resourceVersion\":"
              "\"12746\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}},\"spec\":{},"
              "\"status\":{\"nodeInfo\":{}}}\n");
    feed_good(&f,
              VIEW("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\","
                   "\"metadata\":"
                   "{},\"status\":\"Failure\",\"message\":\"too old resource version: 1 (2)\","
                   "\"reason\":\"Expired\",\"code\":410}}\n" EVENT("ADDED", "a")),
              "ERROR 410 Expired: too old resource version: 1 (2)\nADDED " NODE("a") "\n");
}

static void broken_watches(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_watch();
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "the server's answer is not a JSON watch stream"},
        {"<html>", "the server's answer is not a JSON watch stream"},
        {"\"ADDED\"", "the server's answer is not a JSON watch stream"},
        {"{}", "the server sent a watch event of unknown type"},
        {"{\"type\":\"SHRUGGED\",\"object\":{\"kind\":\"Node\"}}",
         "the server sent a watch event of unknown type"},
        {"{\"type\":7,\"object\":{\"kind\":\"Node\"}}",
         "the server sent a watch event of unknown type"},
        {"{\"object\":{\"kind\":\"Node\"}}", "the server sent a watch event of unknown type"},
        {"{\"type\":\"ADDED\"}", "the server sent a watch event without an object"},
        {"{\"type\":\"ADDED\",\"object\":{}}", "a watch of nodes brought another kind of object"},
        {"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\"}}",
         "a watch of nodes brought another kind of object"},
        {"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Status\",\"code\":500}}",
         "a watch of nodes brought another kind of object"},
        {"{\"type\":\"ADDED\",\"object\":null}", "bad JSON at byte 0: unexpected character"},
        {"{\"type\":\"ADDED\",\"object\":[]}", "bad JSON at byte 0: unexpected character"},
        {"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Node\",\"spec\":1}}",
         "cannot read a Node: spec: expected an object, found a number"},
        {"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Node\"]}",
         "bad JSON at byte 39: unexpected character"},
        {"{\"type\":\"ERROR\",\"object\":{\"code\":\"x\"}}",
         "cannot read the Status of an ERROR event: expected a number, found a string"},
        {"{\"type\" \"ADDED\"}", "bad JSON at byte 8: unexpected character"},
        {"{]", "bad JSON at byte 1: unexpected character"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        feed_bad(&f, view_of(cases[i].text), EBADMSG, cases[i].message, "");
        _cleanup_free_ char *later = xasprintf("%s\n%s", EVENT("ADDED", "a"), cases[i].text);
        feed_bad(&f, view_of(later), EBADMSG, cases[i].message, "ADDED " NODE("a") "\n");
    }
}

static const char two[] = EVENT("ADDED", "a") "\n" EVENT("DELETED", "a") "\n";

static bool between_events(size_t n) {
    size_t first = strlen(EVENT("ADDED", "a"));
    return n == 0 || n == first || n == first + 1 || n == sizeof two - 2;
}

static void truncated_watches(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_watch();
    feed_truncated(&f, view_of(two), between_events);
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(feed_run(&f, (struct view){two, 90}, FEED_WHOLE, &err), -EPIPE);
    assert_string_equal(err_msg(&err), "the watch broke off within an event");
    assert_string_equal(str_get(&f.log), "ADDED " NODE("a") "\n");
}

/* --- limits --- */

/* An object of exactly n bytes: its annotation is as long as it takes. */
static void add_object(struct str *s, size_t n) {
    static const char head[] = "{\"kind\":\"Node\",\"noise\":\"", tail[] = "\"}";
    size_t fill = n - (sizeof head - 1) - (sizeof tail - 1);
    str_add(s, head);
    str_reserve(s, fill + 1);
    memset(s->p + s->len, 'x', fill);
    s->len += fill;
    s->p[s->len] = 0;
    str_add(s, tail);
}

static void too_large(void **state) {
    (void)state;
    static const char message[] = "the server sent an object of more than 8 MiB";
    for (size_t extra = 0; extra < 2; extra++) {
        _cleanup_feed_ struct feed f = node_list(), w = node_watch();
        _cleanup_str_ struct str body = STR_INIT, event = STR_INIT;
        _cleanup_err_ struct err err = ERR_INIT;
        str_add(&body, "{\"kind\":\"NodeList\",\"items\":[");
        add_object(&body, STREAM_OBJECT_MAX + extra);
        str_add(&body, "]}");
        str_add(&event, "{\"type\":\"ADDED\",\"object\":");
        add_object(&event, STREAM_OBJECT_MAX - event.len - 1 + extra);
        str_add(&event, "}");
        assert_int_equal(event.len, STREAM_OBJECT_MAX + extra);
        for (size_t i = 0; i < 5; i++) {
            if (feed_ways[i] == FEED_BYTES)
                continue;
            int rc = feed_run(&f, (struct view){body.p, body.len}, feed_ways[i], &err);
            assert_int_equal(rc, extra ? -EMSGSIZE : 0);
            assert_int_equal(f.objects, !extra);
            if (extra)
                assert_string_equal(err_msg(&err), message);
            rc = feed_run(&w, (struct view){event.p, event.len}, feed_ways[i], &err);
            assert_int_equal(rc, extra ? -EMSGSIZE : 0);
            if (extra)
                assert_string_equal(err_msg(&err), message);
        }
    }
}

/* A body that never ends is stopped after as much as an object may have. */
static void endless(void **state) {
    (void)state;
    static const char *const heads[] = {
        "{\"kind\":\"",
        "{\"",
        "{\"x\":",
        "{\"metadata\":{\"a\":\"",
        "{\"kind\":\"NodeList\",\"items\":[{\"",
    };
    char block[65536];
    memset(block, 'x', sizeof block);
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        static const struct stream_handler handler = {feed_object, feed_error, NULL};
        _cleanup_feed_ struct feed f = node_list();
        _cleanup_err_ struct err err = ERR_INIT;
        struct stream s;
        size_t fed = 0;
        f.pool = pool_new(type_drop);
        stream_init(&s, f.kind, f.format, f.mode, f.pool, &handler, &f);
        int rc = stream_feed(&s, heads[i], strlen(heads[i]), &err);
        for (; !rc && fed < 2 * (size_t)STREAM_OBJECT_MAX; fed += sizeof block)
            rc = stream_feed(&s, block, sizeof block, &err);
        assert_int_equal(rc, -EMSGSIZE);
        assert_true(fed <= STREAM_OBJECT_MAX + sizeof block);
        stream_done(&s);
        pool_free(f.pool);
    }
}

/* --- single objects --- */

static void formats(void **state) {
    (void)state;
    enum kube_format format;
    static const struct {
        const char *type;
        int format; /* -1: neither */
    } cases[] = {
        {"application/json", KUBE_JSON},
        {"application/json; charset=utf-8", KUBE_JSON},
        {"application/json;stream=watch", KUBE_JSON},
        {"Application/JSON", KUBE_JSON},
        {"application/vnd.kubernetes.protobuf", KUBE_PROTOBUF},
        {"application/vnd.kubernetes.protobuf;stream=watch", KUBE_PROTOBUF},
        {"application/vnd.kubernetes.protobuf ; stream=watch", KUBE_PROTOBUF},
        {"application/jsonp", -1},
        {"application/vnd.kubernetes.protobufs", -1},
        {"text/plain", -1},
        {"text/html; application/json", -1},
        {"", -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool known = kube_format_of(cases[i].type, &format);
        assert_int_equal(known, cases[i].format >= 0);
        if (known)
            assert_int_equal(format, cases[i].format);
    }
}

struct one {
    struct pool *pool;
    struct codec codec;
};

static int setup(void **state) {
    struct one *o = xnew(struct one);
    o->pool = pool_new(type_drop);
    codec_init(&o->codec, o->pool);
    *state = o;
    return 0;
}

static int teardown(void **state) {
    struct one *o = *state;
    size_t left = pool_stats(o->pool).entries;
    codec_done(&o->codec);
    pool_free(o->pool);
    free(o);
    return left ? -1 : 0;
}

static void decode_object(void **state) {
    struct one *o = *state;
    struct object *obj = NULL;
    assert_int_equal(kube_decode(&o->codec, &kind_lease, KUBE_JSON,
                                 VIEW("{\"spec\":{\"holderIdentity\":\"me\"},\"kind\":\"Lease\","
                                      "\"apiVersion\":\"coordination.k8s.io/v1\"}"),
                                 &obj, NULL),
                     0);
    assert_string_equal(((struct lease *)obj)->holder, "me");
    object_free(&kind_lease, o->pool, obj);

    _cleanup_str_ struct str message = STR_INIT, body = STR_INIT;
    size_t at = pb_open(&message, 2);
    pb_text(&message, 1, "me");
    pb_close(&message, at);
    pb_envelope(&body, "coordination.k8s.io/v1", "Lease", &message);
    struct view v = {body.p, body.len};
    assert_int_equal(kube_decode(&o->codec, &kind_lease, KUBE_PROTOBUF, v, &obj, NULL), 0);
    assert_string_equal(((struct lease *)obj)->holder, "me");
    object_free(&kind_lease, o->pool, obj);

    /* Every byte of it is needed, but for the empty fields at its end. */
    for (size_t n = 0; n < body.len - 4; n++)
        assert_int_not_equal(kube_decode(&o->codec, &kind_lease, KUBE_PROTOBUF,
                                         (struct view){body.p, n}, &obj, NULL),
                             0);
}

static void decode_wrong_object(void **state) {
    struct one *o = *state;
    struct object *obj = (void *)1;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"kind\":\"Status\",\"apiVersion\":\"v1\"}",
         "expected a Lease of coordination.k8s.io/v1, the server sent a \"Status\" of \"v1\""},
        {"{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1beta1\"}",
         "expected a Lease of coordination.k8s.io/v1, the server sent a \"Lease\" of "
         "\"coordination.k8s.io/v1beta1\""},
        {"{}", "expected a Lease of coordination.k8s.io/v1, the server sent a \"\" of \"\""},
        {"{\"kind\":5}",
         "expected a Lease of coordination.k8s.io/v1, the server sent a \"5\" of \"\""},
        {"{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"spec\":3}",
         "cannot read a Lease: spec: expected an object, found a number"},
        {"", "bad JSON at byte 0: it ends too early"},
        {"<html>", "bad JSON at byte 0: unexpected character"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        assert_int_equal(
            kube_decode(&o->codec, &kind_lease, KUBE_JSON, view_of(cases[i].text), &obj, &err),
            -EBADMSG);
        assert_string_equal(err_msg(&err), cases[i].message);
        assert_ptr_equal(obj, (void *)1);
    }
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(kube_decode(&o->codec, &kind_lease, KUBE_PROTOBUF, VIEW("{}"), &obj, &err),
                     -EBADMSG);
    assert_string_equal(err_msg(&err), "bad protobuf from the server: the magic bytes are missing");
}

static void decode_status(void **state) {
    struct one *o = *state;
    struct status st;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(kube_decode_status(
                         &o->codec, KUBE_JSON,
                         VIEW("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                              "\"reason\":\"TooManyRequests\",\"code\":429,\"details\":{\"causes\":"
                              "[{\"reason\":\"DisruptionBudget\"}],\"retryAfterSeconds\":10}}"),
                         &st, &err),
                     0);
    assert_int_equal(st.code, 429);
    assert_int_equal(st.details->retry_after, 10);
    assert_string_equal(st.details->causes[0].reason, "DisruptionBudget");
    type_release(&type_status, o->pool, &st, NULL);

    _cleanup_str_ struct str message = STR_INIT, body = STR_INIT;
    pb_text(&message, 2, "Failure");
    pb_num(&message, 6, 404);
    pb_envelope(&body, "v1", "Status", &message);
    assert_int_equal(
        kube_decode_status(&o->codec, KUBE_PROTOBUF, (struct view){body.p, body.len}, &st, &err),
        0);
    assert_int_equal(st.code, 404);
    type_release(&type_status, o->pool, &st, NULL);

    static const char *const others[] = {"{\"kind\":\"Pod\"}", "{}", "", "nginx", "[]"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        memset(&st, 0xff, sizeof st);
        assert_int_equal(kube_decode_status(&o->codec, KUBE_JSON, view_of(others[i]), &st, &err),
                         -ENOMSG);
        assert_string_equal(err_msg(&err), "the server's answer is no Kubernetes Status");
        assert_null(st.status);
        assert_int_equal(st.code, 0);
    }
    assert_int_equal(kube_decode_status(
                         &o->codec, KUBE_JSON,
                         VIEW("{\"kind\":\"Status\",\"reason\":\"x\",\"code\":\"x\"}"), &st, &err),
                     -EBADMSG);
    assert_null(st.reason);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(pretty_lists),
        cmocka_unit_test(other_members),
        cmocka_unit_test(empty_lists),
        cmocka_unit_test(truncated_lists),
        cmocka_unit_test(no_lists),
        cmocka_unit_test(broken_items),
        cmocka_unit_test(receiver_stops),
        cmocka_unit_test(watches),
        cmocka_unit_test(event_forms),
        cmocka_unit_test(broken_watches),
        cmocka_unit_test(truncated_watches),
        cmocka_unit_test(too_large),
        cmocka_unit_test(endless),
        cmocka_unit_test(formats),
        cmocka_unit_test_setup_teardown(decode_object, setup, teardown),
        cmocka_unit_test_setup_teardown(decode_wrong_object, setup, teardown),
        cmocka_unit_test_setup_teardown(decode_status, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

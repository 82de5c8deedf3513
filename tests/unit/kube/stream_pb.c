/* Tests of kube/stream_pb: lists and watches in protobuf. The bytes are written by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/feed.h"
#include "../support/pbwrite.h"
#include "kube/stream_internal.h"

#define NODE(name)                                                                                 \
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name                      \
    "\"},\"spec\":{},\"status\":{\"nodeInfo\":{}}}"

#define BAD "bad protobuf from the server: "

static struct feed node_list(void) {
    return (struct feed){.kind = &kind_node, .format = KUBE_PROTOBUF, .mode = STREAM_LIST};
}

static struct feed node_watch(void) {
    return (struct feed){.kind = &kind_node, .format = KUBE_PROTOBUF, .mode = STREAM_WATCH};
}

static struct view all(const struct str *s) {
    return (struct view){str_get(s), s->len};
}

/* --- writing --- */

static void add_node(struct str *s, uint32_t number, const char *name) {
    size_t at = pb_open(s, number), meta = pb_open(s, 1);
    pb_text(s, 1, name);
    pb_close(s, meta);
    pb_close(s, at);
}

/* A NodeList message: metadata and two nodes, the second with managedFields. */
static void add_list(struct str *s) {
    size_t at = pb_open(s, 1);
    pb_text(s, 2, "77");
    pb_text(s, 3, "tok");
    pb_num(s, 4, 5);
    pb_close(s, at);
    add_node(s, 2, "a");
    size_t item = pb_open(s, 2), meta = pb_open(s, 1);
    pb_text(s, 1, "b");
    pb_text(s, 17, "k8s\0 anything may stand here");
    pb_close(s, meta);
    pb_close(s, item);
}

static const char list_log[] =
    "ADDED " NODE("a") "\nADDED " NODE("b") "\nLIST version=77 continue=tok remaining=5\n";

static void add_envelope(struct str *s, const char *kind, const struct str *message) {
    pb_envelope(s, "v1", kind, message);
}

/* An event with a node in it. */
static void add_event(struct str *s, const char *type, const char *kind, const char *name) {
    _cleanup_str_ struct str message = STR_INIT, envelope = STR_INIT;
    size_t at = pb_open(&message, 1);
    pb_text(&message, 1, name);
    pb_close(&message, at);
    add_envelope(&envelope, kind, &message);
    pb_event(s, type, &envelope);
}

static void add_frame(struct str *s, const struct str *event) {
    for (int shift = 24; shift >= 0; shift -= 8)
        str_addc(s, (char)(event->len >> shift));
    str_addn(s, str_get(event), event->len);
}

/* --- lists --- */

static void lists(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
    _cleanup_str_ struct str message = STR_INIT, body = STR_INIT;
    add_list(&message);
    add_envelope(&body, "NodeList", &message);
    feed_good(&f, all(&body), list_log);
}

static void empty_lists(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
    _cleanup_str_ struct str message = STR_INIT, body = STR_INIT;
    add_envelope(&body, "NodeList", &message);
    feed_good(&f, all(&body), "LIST version=\n");
    str_reset(&body);
    size_t at = pb_open(&message, 1);
    pb_text(&message, 2, "3");
    pb_close(&message, at);
    add_envelope(&body, "NodeList", &message);
    feed_good(&f, all(&body), "LIST version=3\n");
}

/* An item without any field is an item, as {} is in JSON. */
static void empty_items(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
    _cleanup_str_ struct str message = STR_INIT, body = STR_INIT;
    pb_text(&message, 1, "");
    pb_text(&message, 2, "");
    add_node(&message, 2, "a");
    pb_text(&message, 2, "");
    add_envelope(&body, "NodeList", &message);
#define EMPTY                                                                                      \
    "ADDED {\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{},\"spec\":{},\"status\":"       \
    "{\"nodeInfo\":{}}}\n"
    feed_good(&f, all(&body), EMPTY "ADDED " NODE("a") "\n" EMPTY "LIST version=\n");
#undef EMPTY
}

/* Unknown fields, in the envelope and in the list, before and after what we want. */
static void unknown_fields(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
    _cleanup_str_ struct str message = STR_INIT, body = STR_INIT;
    pb_num(&message, 7, -1);
    pb_text(&message, 9, "skipped");
    pb_num(&message, 2, 5); /* a number where items are: not an item */
    add_list(&message);
    pb_text(&message, 1000, "");
    pb_num(&message, 1000, 0);
    str_addn(&body, "k8s\0", 4);
    pb_num(&body, 12, 1);
    pb_text(&body, 11, "skipped");
    size_t at = pb_open(&body, 1);
    pb_num(&body, 5, 1);
    pb_text(&body, 2, "NodeList");
    pb_close(&body, at);
    pb_num(&body, 2, 8);
    pb_bytes(&body, 2, message.p, message.len);
    pb_text(&body, 3, "");
    pb_text(&body, 4, "application/vnd.kubernetes.protobuf");
    pb_text(&body, 99, "skipped");
    feed_good(&f, all(&body), list_log);
}

static size_t needed; /* bytes up to the end of the list itself */

static bool complete(size_t n) {
    return n == needed || n == needed + 2; /* between the empty fields that follow */
}

static void truncated_lists(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
    _cleanup_str_ struct str message = STR_INIT, body = STR_INIT;
    add_list(&message);
    add_envelope(&body, "NodeList", &message);
    needed = body.len - 4;
    feed_truncated(&f, all(&body), complete);
    feed_bad(&f, (struct view){body.p, needed - 1}, EPIPE, "the list broke off before its end",
             "ADDED " NODE("a") "\n");
    feed_bad(&f, (struct view){body.p, 4}, EBADMSG, BAD "the answer holds no list", "");
    feed_bad(&f, (struct view){body.p, 3}, EPIPE, "the list broke off before its end", "");
    feed_bad(&f, (struct view){body.p, 0}, EPIPE, "the list broke off before its end", "");
}

static void no_lists(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
    _cleanup_str_ struct str message = STR_INIT, body = STR_INIT;
    feed_bad(&f, VIEW("{\"kind\":\"NodeList\"}"), EBADMSG, BAD "the magic bytes are missing", "");
    feed_bad(&f, VIEW("k8s\1 and more"), EBADMSG, BAD "the magic bytes are missing", "");
    add_list(&message);
    static const struct {
        const char *kind, *message;
    } wrong[] = {
        {"PodList", "expected a NodeList, the server sent a \"PodList\""},
        {"Node", "expected a NodeList, the server sent a \"Node\""},
        {"Status", "expected a NodeList, the server sent a \"Status\""},
        {"", "expected a NodeList, the server sent a \"\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        str_reset(&body);
        add_envelope(&body, wrong[i].kind, &message);
        feed_bad(&f, all(&body), EBADMSG, wrong[i].message, "");
    }
    /* Without a kind nobody knows what the items are. */
    str_reset(&body);
    str_addn(&body, "k8s\0", 4);
    pb_bytes(&body, 2, message.p, message.len);
    feed_bad(&f, all(&body), EBADMSG, BAD "a list that does not say of what", "");
    /* Two lists, an encoding. */
    str_reset(&body);
    add_envelope(&body, "NodeList", &message);
    pb_bytes(&body, 2, message.p, message.len);
    _cleanup_free_ char *both = xstrndup(list_log, (size_t)(strstr(list_log, "LIST") - list_log));
    feed_bad(&f, all(&body), EBADMSG, BAD "two lists in one answer", both);
    body.len -= message.len + 2;
    pb_text(&body, 3, "gzip");
    feed_bad(&f, all(&body), EBADMSG, BAD "an encoding that is not understood", both);
}

static void start_list(struct str *body, size_t raw) {
    str_reset(body);
    str_addn(body, "k8s\0", 4);
    size_t at = pb_open(body, 1);
    pb_text(body, 2, "NodeList");
    pb_close(body, at);
    pb_tag(body, 2, 2);
    pb_varint(body, raw);
}

static void broken_lists(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
    _cleanup_str_ struct str body = STR_INIT;
    /* An item that is longer than the list that it is in: by one, and so long that it wraps. */
    static const uint64_t lengths[] = {9, 1 << 20, UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        for (uint32_t number = 2; number <= 3; number++) {
            start_list(&body, 10);
            pb_tag(&body, number, 2);
            pb_varint(&body, lengths[i]);
            str_add(&body, "xxxxxxxxxxxxxxxxxxxxxxx");
            feed_bad(&f, all(&body), EBADMSG, BAD "an item is longer than its list", "");
        }
    }
    /* The head of an item that reaches over the end. */
    start_list(&body, 1);
    pb_num(&body, 2, 300);
    feed_bad(&f, all(&body), EBADMSG, BAD "an item is longer than its list", "");
    /* Tags: of groups, of fixed numbers, of no field, of one too many bits, endless. */
    static const uint64_t tags[] = {2 << 3 | 3,
                                    2 << 3 | 4,
                                    2 << 3 | 1,
                                    2 << 3 | 5,
                                    2 << 3 | 7,
                                    2,
                                    (UINT64_C(1) << 32 | 2) << 3 | 2};
    for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
        start_list(&body, 20);
        pb_varint(&body, tags[i]);
        str_add(&body, "\x01xxxxxxxxxxxxxxxxxxxx");
        feed_bad(&f, all(&body), EBADMSG, BAD "broken tag", "");
        str_reset(&body);
        str_addn(&body, "k8s\0", 4);
        pb_varint(&body, tags[i]);
        str_add(&body, "\x01xxxx");
        feed_bad(&f, all(&body), EBADMSG, BAD "broken tag", "");
    }
    str_reset(&body);
    str_addn(&body, "k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16);
    feed_bad(&f, all(&body), EBADMSG, BAD "broken tag", "");
    str_reset(&body);
    str_addn(&body, "k8s\0\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16);
    feed_bad(&f, all(&body), EBADMSG, BAD "broken tag", "");
    /* An item that is none, after one that is. */
    start_list(&body, 12);
    size_t head = body.len;
    add_node(&body, 2, "a");
    pb_text(&body, 2, "\x0a\x05x");
    body.p[head - 1] = (char)(body.len - head);
    feed_bad(&f, all(&body), EBADMSG, "cannot read a Node: bad protobuf: it ends too early",
             "ADDED " NODE("a") "\n");
    start_list(&body, 3);
    pb_text(&body, 1, "\x12");
    feed_bad(&f, all(&body), EBADMSG,
             "cannot read the metadata of a list: bad protobuf: broken length", "");
    /* The head of the envelope. */
    str_reset(&body);
    str_addn(&body, "k8s\0", 4);
    pb_text(&body, 1, "\x12\x7f");
    feed_bad(&f, all(&body), EBADMSG, BAD "it ends too early", "");
    str_reset(&body);
    str_addn(&body, "k8s\0", 4);
    pb_tag(&body, 1, 2);
    pb_varint(&body, 4097);
    feed_bad(&f, all(&body), EBADMSG, BAD "a header is too long", "");
}

static void receiver_stops(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list(), w = node_watch();
    _cleanup_str_ struct str message = STR_INIT, body = STR_INIT, events = STR_INIT;
    add_list(&message);
    add_envelope(&body, "NodeList", &message);
    add_event(&events, "ADDED", "Node", "a");
    add_event(&events, "ADDED", "Node", "b");
    f.stop_after = w.stop_after = 1;
    feed_bad(&f, all(&body), ECANCELED, "the receiver stopped the stream", "ADDED " NODE("a") "\n");
    feed_bad(&w, all(&events), ECANCELED, "the receiver stopped the stream",
             "ADDED " NODE("a") "\n");
}

/* --- watches --- */

static void watches(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_watch();
    _cleanup_str_ struct str s = STR_INIT, message = STR_INIT, envelope = STR_INIT;
    feed_good(&f, all(&s), "");
    add_event(&s, "ADDED", "Node", "a");
    add_event(&s, "MODIFIED", "Node", "b");
    add_event(&s, "DELETED", "Node", "c");
    add_event(&s, "BOOKMARK", "Node", "d");
    pb_text(&message, 2, "Failure");
    pb_text(&message, 3, "too old");
    pb_text(&message, 4, "Expired");
    pb_num(&message, 6, 410);
    add_envelope(&envelope, "Status", &message);
    pb_event(&s, "ERROR", &envelope);
    add_event(&s, "ADDED", "Node", "e");
    feed_good(&f, all(&s),
              "ADDED " NODE("a") "\nMODIFIED " NODE("b") "\nDELETED " NODE("c") "\nBOOKMARK " NODE(
                  "d") "\nERROR 410 Expired: too old\nADDED " NODE("e") "\n");
}

static void event_forms(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_watch();
    _cleanup_str_ struct str s = STR_INIT, event = STR_INIT, message = STR_INIT,
                             envelope = STR_INIT;
    /* The object first, unknown fields around. */
    add_node(&message, 9, "unknown");
    size_t at = pb_open(&message, 1);
    pb_text(&message, 1, "a");
    pb_close(&message, at);
    add_envelope(&envelope, "Node", &message);
    pb_num(&event, 8, 1);
    at = pb_open(&event, 2);
    pb_text(&event, 5, "unknown");
    pb_bytes(&event, 1, envelope.p, envelope.len);
    pb_close(&event, at);
    pb_text(&event, 1, "ADDED");
    pb_text(&event, 9, "unknown");
    add_frame(&s, &event);
    feed_good(&f, all(&s), "ADDED " NODE("a") "\n");
}

static size_t first_event, both_events;

static bool between_events(size_t n) {
    return n == 0 || n == first_event || n == both_events;
}

static void truncated_watches(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_watch();
    _cleanup_str_ struct str s = STR_INIT;
    add_event(&s, "ADDED", "Node", "a");
    first_event = s.len;
    add_event(&s, "DELETED", "Node", "b");
    both_events = s.len;
    feed_truncated(&f, all(&s), between_events);
    feed_bad(&f, (struct view){s.p, first_event + 2}, EPIPE, "the watch broke off within an event",
             "ADDED " NODE("a") "\n");
}

static void broken_watches(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_watch();
    _cleanup_str_ struct str s = STR_INIT, event = STR_INIT;
    feed_bad(&f, VIEW("\0\0\0\0"), EBADMSG, BAD "an empty frame", "");
    feed_bad(&f, VIEW("{\"type\":\"ADDED\"}"), EMSGSIZE,
             "the server sent an object of more than 8 MiB", "");
    add_event(&s, "SHRUGGED", "Node", "a");
    feed_bad(&f, all(&s), EBADMSG, "the server sent a watch event of unknown type", "");
    str_reset(&s);
    add_event(&s, "", "Node", "a");
    feed_bad(&f, all(&s), EBADMSG, "the server sent a watch event of unknown type", "");
    str_reset(&s);
    add_event(&s, "ADDED", "Node", "a");
    add_event(&s, "ADDED", "Pod", "b");
    feed_bad(&f, all(&s), EBADMSG, "a watch of nodes brought another kind of object",
             "ADDED " NODE("a") "\n");
    str_reset(&s);
    add_event(&s, "ADDED", "Status", "b");
    feed_bad(&f, all(&s), EBADMSG, "a watch of nodes brought another kind of object", "");
    str_reset(&s);
    add_event(&s, "ERROR", "Node", "a");
    feed_bad(&f, all(&s), EBADMSG, BAD "an ERROR event without a Status", "");
    /* Without an object, with an empty one, with one that is no envelope. */
    static const struct view raws[] = {{NULL, 0}, {"", 0}, {"k8s", 3}, {"{\"kind\":\"Node\"}", 15}};
    for (size_t i = 0; i < ARRAY_LEN(raws); i++) {
        str_reset(&s);
        str_reset(&event);
        pb_text(&event, 1, "ADDED");
        if (raws[i].p) {
            size_t at = pb_open(&event, 2);
            pb_bytes(&event, 1, raws[i].p, raws[i].len);
            pb_close(&event, at);
        }
        add_frame(&s, &event);
        feed_bad(&f, all(&s), EBADMSG, BAD "the magic bytes are missing", "");
    }
    /* An envelope that ends after its head. */
    str_reset(&s);
    str_reset(&event);
    pb_text(&event, 1, "ADDED");
    size_t at = pb_open(&event, 2);
    pb_bytes(&event, 1, "k8s\0\x0a\x06\x12\x04Node", 12);
    pb_close(&event, at);
    add_frame(&s, &event);
    feed_bad(&f, all(&s), EBADMSG, BAD "an envelope with nothing in it", "");
    /* Broken at each level. */
    static const struct view frames[] = {VIEW("\xff"), VIEW("\x0a\x7f"), VIEW("\x12\x01\x0a"),
                                         VIEW("\x0a\x05"
                                              "ADDED\x12\x02\x0a\x7f")};
    for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        str_reset(&s);
        str_reset(&event);
        str_addn(&event, frames[i].p, frames[i].len);
        add_frame(&s, &event);
        assert_int_equal(feed_run(&f, all(&s), FEED_WHOLE, &err), -EBADMSG);
    }
}

/* --- limits --- */

static void too_large(void **state) {
    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        _cleanup_feed_ struct feed f = node_list(), w = node_watch();
        _cleanup_str_ struct str item = STR_INIT, message = STR_INIT, body = STR_INIT,
                                 events = STR_INIT;
        char *noise = xcalloc(1, STREAM_OBJECT_MAX);
        pb_bytes(&item, 9, noise, STREAM_OBJECT_MAX + extra - 5);
        assert_int_equal(item.len, STREAM_OBJECT_MAX + extra);
        pb_bytes(&message, 2, item.p, item.len);
        add_envelope(&body, "NodeList", &message);
        /* The limit of a frame counts everything in it. */
        _cleanup_str_ struct str envelope = STR_INIT;
        str_reset(&item);
        pb_bytes(&item, 9, noise, STREAM_OBJECT_MAX - 47 + extra);
        add_envelope(&envelope, "Node", &item);
        pb_event(&events, "ADDED", &envelope);
        assert_int_equal(events.len, 4 + STREAM_OBJECT_MAX + extra);
        for (size_t i = 0; i < 5; i++) {
            _cleanup_err_ struct err err = ERR_INIT;
            if (feed_ways[i] == FEED_BYTES)
                continue;
            assert_int_equal(feed_run(&f, all(&body), feed_ways[i], &err), extra ? -EMSGSIZE : 0);
            assert_int_equal(f.objects, !extra);
            assert_int_equal(feed_run(&w, all(&events), feed_ways[i], &err), extra ? -EMSGSIZE : 0);
            assert_int_equal(w.objects, !extra);
            if (extra)
                assert_string_equal(err_msg(&err), "the server sent an object of more than 8 MiB");
        }
        free(noise);
    }
}

/* What is skipped may be as long as it likes: it takes no memory. */
static void long_and_skipped(void **state) {
    (void)state;
    _cleanup_feed_ struct feed f = node_list();
    _cleanup_str_ struct str message = STR_INIT, body = STR_INIT;
    char *noise = xcalloc(1, 2 * STREAM_OBJECT_MAX);
    add_list(&message);
    pb_bytes(&message, 9, noise, 2 * STREAM_OBJECT_MAX);
    free(noise);
    add_envelope(&body, "NodeList", &message);
    assert_int_equal(feed_run(&f, all(&body), FEED_WHOLE, NULL), 0);
    assert_int_equal(f.objects, 2);
    assert_int_equal(feed_run(&f, (struct view){body.p, body.len - 5}, FEED_WHOLE, NULL), -EPIPE);
}

/* --- single objects --- */

static void open_envelopes(void **state) {
    (void)state;
    _cleanup_str_ struct str message = STR_INIT, body = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    struct view kind[2], inside;
    str_add(&message, "anything");
    pb_envelope(&body, "apps/v1", "Deployment", &message);
    assert_int_equal(stream_pb_open(all(&body), kind, &inside, &err), 0);
    assert_true(view_eq(kind[0], VIEW("Deployment")));
    assert_true(view_eq(kind[1], VIEW("apps/v1")));
    assert_true(view_eq(inside, VIEW("anything")));
    static const struct view bad[] = {
        {"", 0},
        {"k8", 2},
        {"k8s\0", 4},
        {"K8s\0\x12\x00", 6},
        {"k8s\0\x12\x05x", 7},
        {"k8s\0\x12", 5},
        {"k8s\0\x0a\x02\x0a\x7f\x12\x00", 10},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(stream_pb_open(bad[i], kind, &inside, &err), -EBADMSG);
    /* An object may be empty, it may not be missing. */
    assert_int_equal(stream_pb_open((struct view){"k8s\0\x12\x00", 6}, kind, &inside, &err), 0);
    assert_int_equal(inside.len, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(empty_lists),
        cmocka_unit_test(empty_items),
        cmocka_unit_test(unknown_fields),
        cmocka_unit_test(truncated_lists),
        cmocka_unit_test(no_lists),
        cmocka_unit_test(broken_lists),
        cmocka_unit_test(receiver_stops),
        cmocka_unit_test(watches),
        cmocka_unit_test(event_forms),
        cmocka_unit_test(truncated_watches),
        cmocka_unit_test(broken_watches),
        cmocka_unit_test(too_large),
        cmocka_unit_test(long_and_skipped),
        cmocka_unit_test(open_envelopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

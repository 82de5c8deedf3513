/* Tests of kube/curl_error: each failure has its errno and its sentence. */
#include "kube/curl_error.h"

#include <errno.h>
#include <openssl/x509_vfy.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"

static void is(struct curl_failure f, int code, bool sent, const char *msg) {
    struct err err = ERR_INIT;
    bool may = !sent;
    f.server = "https://10.0.0.1:6443";
    f.host = "k8s.example";
    f.name = "10.0.0.1";
    f.detail = f.detail ? f.detail : "";
    f.connect_timeout = SEC(30);
    int r = curl_error_explain(&f, &may, &err);
    assert_string_equal(err_msg(&err), msg);
    assert_int_equal(r, -code);
    assert_int_equal(err.code, code);
    assert_int_equal(may, sent);
    err_done(&err);
}

static void unreachable(void **state) {
    (void)state;
    is((struct curl_failure){.code = CURLE_COULDNT_CONNECT, .os_errno = ECONNREFUSED}, ECONNREFUSED,
       false, "cannot reach https://10.0.0.1:6443: connection refused");
    is((struct curl_failure){.code = CURLE_COULDNT_CONNECT, .os_errno = EHOSTUNREACH}, EHOSTUNREACH,
       false, "cannot reach https://10.0.0.1:6443: No route to host");
    is((struct curl_failure){.code = CURLE_COULDNT_CONNECT, .os_errno = ENETUNREACH}, EHOSTUNREACH,
       false, "cannot reach https://10.0.0.1:6443: Network is unreachable");
    is((struct curl_failure){.code = CURLE_COULDNT_CONNECT, .os_errno = ETIMEDOUT}, ETIMEDOUT,
       false, "cannot reach https://10.0.0.1:6443: connection timed out");
    is((struct curl_failure){.code = CURLE_COULDNT_CONNECT, .detail = "Failed somehow"},
       EHOSTUNREACH, false, "cannot reach https://10.0.0.1:6443: Failed somehow");
    is((struct curl_failure){.code = CURLE_COULDNT_RESOLVE_HOST}, EHOSTUNREACH, false,
       "cannot reach https://10.0.0.1:6443: the name k8s.example cannot be resolved (DNS)");
    is((struct curl_failure){.code = CURLE_OPERATION_TIMEDOUT}, ETIMEDOUT, false,
       "cannot reach https://10.0.0.1:6443: no connection within 30 s");
}

static void through_proxy(void **state) {
    (void)state;
    const char *proxy = "http://proxy:3128";
    is((struct curl_failure){.code = CURLE_COULDNT_CONNECT,
                             .os_errno = ECONNREFUSED,
                             .proxy = proxy},
       ECONNREFUSED, false, "cannot reach the proxy http://proxy:3128: connection refused");
    is((struct curl_failure){.code = CURLE_COULDNT_RESOLVE_PROXY, .proxy = proxy}, EHOSTUNREACH,
       false, "cannot reach the proxy http://proxy:3128: its name cannot be resolved (DNS)");
    is((struct curl_failure){.code = CURLE_RECV_ERROR,
                             .proxy = proxy,
                             .connect_code = 403,
                             .detail = "CONNECT tunnel failed, response 403"},
       EHOSTUNREACH, false,
       "the proxy http://proxy:3128 does not connect us to https://10.0.0.1:6443: it answered 403");
    is((struct curl_failure){.code = CURLE_RECV_ERROR, .proxy = proxy, .connect_code = 407}, EACCES,
       false,
       "the proxy http://proxy:3128 does not connect us to https://10.0.0.1:6443: it answered 407");
    is((struct curl_failure){.code = CURLE_PROXY, .proxy = proxy, .detail = "host unreachable"},
       EHOSTUNREACH, false,
       "the proxy http://proxy:3128 does not connect us to https://10.0.0.1:6443: host "
       "unreachable");
    struct curl_tls_peer peer = {.error = X509_V_ERR_CERT_HAS_EXPIRED};
    is((struct curl_failure){.code = CURLE_PEER_FAILED_VERIFICATION,
                             .proxy = "https://proxy",
                             .proxy_unverified = true,
                             .peer = &peer},
       EPROTO, false,
       "https://proxy: the proxy's certificate expired on an unknown date (renew it, or set this "
       "machine's clock)");
}

static void slow_proxy(void **state) {
    (void)state;
    is((struct curl_failure){.code = CURLE_OPERATION_TIMEDOUT, .proxy = "http://proxy:3128"},
       ETIMEDOUT, false,
       "cannot reach https://10.0.0.1:6443 through the proxy http://proxy:3128: no connection "
       "within 30 s");
}

static void certificates(void **state) {
    (void)state;
    struct curl_tls_peer peer = {.issuer = (char *)"CN=other",
                                 .names = (char *)"kubernetes, 10.96.0.1",
                                 .not_before = SEC(1000000000),
                                 .not_after = SEC(1100000000)};
    struct curl_failure f = {.code = CURLE_PEER_FAILED_VERIFICATION, .peer = &peer};
    is(f, EPROTO, false,
       "https://10.0.0.1:6443: the server's certificate is not valid for 10.0.0.1 but for "
       "kubernetes, 10.96.0.1 (is the address right? else give tls-server-name)");
    f.detail = "SSL certificate verification failed";
    is(f, EPROTO, false,
       "https://10.0.0.1:6443: the server refuses our client certificate because it has expired");
    f.detail = "SSL: no alternative certificate subject name matches target host name";
    peer.names = (char *)"";
    is(f, EPROTO, false,
       "https://10.0.0.1:6443: the server's certificate is not valid for 10.0.0.1 but for no name "
       "at all (is the address right? else give tls-server-name)");
    peer.error = X509_V_ERR_CERT_HAS_EXPIRED;
    is(f, EPROTO, false,
       "https://10.0.0.1:6443: the server's certificate expired on 2004-11-09T11:33:20Z (renew it, "
       "or set this machine's clock)");
    peer.error = X509_V_ERR_CERT_NOT_YET_VALID;
    is(f, EPROTO, false,
       "https://10.0.0.1:6443: the server's certificate is not valid before 2001-09-09T01:46:40Z "
       "(is this machine's clock right?)");
    static const long unknown[] = {
        X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
        X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE};
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
        peer.error = unknown[i];
        is(f, EPROTO, false,
           "https://10.0.0.1:6443: the server's certificate is signed by an unknown authority, "
           "\"CN=other\" (give the right certificate-authority)");
    }
    peer.error = X509_V_ERR_CERT_REVOKED;
    is(f, EPROTO, false,
       "https://10.0.0.1:6443: the server's certificate is not accepted: certificate revoked");
}

static void handshakes(void **state) {
    (void)state;
    const char *plain = "https://10.0.0.1:6443: something that is not TLS answers on that port (is "
                        "it an http:// address?)";
    is((struct curl_failure){.code = CURLE_SSL_CONNECT_ERROR,
                             .detail = "error:0A00010B:SSL routines::wrong version number"},
       EPROTO, false, plain);
    is((struct curl_failure){.code = CURLE_SSL_CONNECT_ERROR,
                             .detail = "OpenSSL SSL_connect: Connection reset by peer in "
                                       "connection to 10.0.0.1:6443 "},
       ECONNRESET, false,
       "https://10.0.0.1:6443: the connection was closed during the TLS handshake");
    is((struct curl_failure){.code = CURLE_SSL_CONNECT_ERROR,
                             .detail = "error:0A00042E:SSL routines::tlsv1 alert protocol version"},
       EPROTO, false, "https://10.0.0.1:6443: the server does not speak TLS 1.2 or newer");
    is((struct curl_failure){.code = CURLE_SSL_CONNECT_ERROR, .detail = "odd"}, EPROTO, false,
       "https://10.0.0.1:6443: no TLS connection: odd");
    /* With TLS 1.3 the refusal comes after the request was written. */
    is((struct curl_failure){.code = CURLE_RECV_ERROR,
                             .sent = true,
                             .detail = "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 "
                                       "alert certificate required, errno 0"},
       EPROTO, false,
       "https://10.0.0.1:6443: the server refuses our client certificate (OpenSSL SSL_read: "
       "error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0)");
    is((struct curl_failure){.code = CURLE_SSL_CONNECT_ERROR,
                             .detail = "sslv3 alert bad "
                                       "certificate"},
       EPROTO, false,
       "https://10.0.0.1:6443: the server refuses our client certificate (sslv3 alert bad "
       "certificate)");
}

static void broken(void **state) {
    (void)state;
    static const CURLcode codes[] = {CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR,
                                     CURLE_PARTIAL_FILE, CURLE_ABORTED_BY_CALLBACK};
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        is((struct curl_failure){.code = codes[i], .sent = true}, ECONNRESET, true,
           "https://10.0.0.1:6443: the connection broke before an answer came");
        is((struct curl_failure){.code = codes[i], .sent = true, .answered = true}, ECONNRESET,
           true, "https://10.0.0.1:6443: the connection broke in the middle of the answer");
    }
    is((struct curl_failure){.code = CURLE_OPERATION_TIMEDOUT, .sent = true}, ETIMEDOUT, true,
       "https://10.0.0.1:6443: no answer in time");
    is((struct curl_failure){.code = CURLE_HTTP2_STREAM, .sent = true, .detail = "reset"},
       ECONNRESET, true, "https://10.0.0.1:6443: the HTTP/2 connection broke: reset");
}

static void nonsense(void **state) {
    (void)state;
    const char *not_http = "https://10.0.0.1:6443 answered with something that is not HTTP";
    is((struct curl_failure){.code = CURLE_UNSUPPORTED_PROTOCOL, .sent = true}, EPROTO, true,
       not_http);
    is((struct curl_failure){.code = CURLE_WEIRD_SERVER_REPLY, .sent = true}, EPROTO, true,
       not_http);
    is((struct curl_failure){.code = CURLE_BAD_CONTENT_ENCODING, .sent = true, .answered = true},
       EPROTO, true, "https://10.0.0.1:6443: the compressed answer is damaged");
    is((struct curl_failure){.code = CURLE_OUT_OF_MEMORY, .sent = true}, EPROTO, true,
       "https://10.0.0.1:6443 answered with headers that are too long");
    is((struct curl_failure){.code = CURLE_OUT_OF_MEMORY}, ENOMEM, false,
       "https://10.0.0.1:6443: out of memory");
    is((struct curl_failure){.code = CURLE_FAILED_INIT}, EIO, false,
       "https://10.0.0.1:6443: Failed initialization");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unreachable), cmocka_unit_test(through_proxy),
        cmocka_unit_test(slow_proxy),  cmocka_unit_test(certificates),
        cmocka_unit_test(handshakes),  cmocka_unit_test(broken),
        cmocka_unit_test(nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

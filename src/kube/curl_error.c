/* What a libcurl failure means, in one sentence and one errno. */
#include "kube/curl_error.h"

#include <errno.h>
#include <openssl/x509_vfy.h>
#include <string.h>

#include "base/str.h"
#include "base/timefmt.h"

/* --- certificates --- */

static const char *date(int64_t usec, char buf[static TIMEFMT_LEN]) {
    return usec ? time_format(usec, false, buf) : "an unknown date";
}

static int bad_certificate(const struct curl_failure *f, struct err *err) {
    static const struct curl_tls_peer none;
    const struct curl_tls_peer *peer = f->peer ? f->peer : &none;
    const char *who = f->proxy_unverified ? f->proxy : f->server;
    const char *whose = f->proxy_unverified ? "proxy" : "server";
    char when[TIMEFMT_LEN];
    switch (peer->error) {
    case X509_V_OK:
        /* What libcurl calls it when the server finds our certificate expired, in TLS 1.2. */
        if (streq(f->detail, "SSL certificate verification failed"))
            return err_set(err, EPROTO,
                           "%s: the server refuses our client certificate because it has expired",
                           f->server);
        return err_set(err, EPROTO,
                       "%s: the %s's certificate is not valid for %s but for %s (is the address "
                       "right? else give tls-server-name)",
                       strna(who), whose, f->proxy_unverified ? strna(f->proxy) : f->name,
                       str_empty(peer->names) ? "no name at all" : peer->names);
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return err_set(err, EPROTO,
                       "%s: the %s's certificate expired on %s (renew it, or set this machine's "
                       "clock)",
                       strna(who), whose, date(peer->not_after, when));
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return err_set(err, EPROTO,
                       "%s: the %s's certificate is not valid before %s (is this machine's clock "
                       "right?)",
                       strna(who), whose, date(peer->not_before, when));
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
        return err_set(err, EPROTO,
                       "%s: the %s's certificate is signed by an unknown authority, \"%s\" (give "
                       "the right certificate-authority)",
                       strna(who), whose, strna(peer->issuer));
    default:
        return err_set(err, EPROTO, "%s: the %s's certificate is not accepted: %s", strna(who),
                       whose, X509_verify_cert_error_string(peer->error));
    }
}

/* --- TLS --- */

/* OpenSSL's reason strings, as libcurl passes them on. */
static bool says(const struct curl_failure *f, const char *part) {
    return strcasestr(f->detail, part) != NULL;
}

/* The server did not like the certificate that we showed, or that we showed none. */
static bool refuses_client(const struct curl_failure *f) {
    static const char *const alerts[] = {
        "alert certificate required",   "alert bad certificate",     "alert certificate expired",
        "alert certificate unknown",    "alert certificate revoked", "alert unknown ca",
        "alert unsupported certificate"};
    for (size_t i = 0; i < sizeof alerts / sizeof *alerts; i++)
        if (says(f, alerts[i]))
            return true;
    return false;
}

static int no_handshake(const struct curl_failure *f, struct err *err) {
    if (says(f, "wrong version number") || says(f, "http request") ||
        says(f, "packet length too long") || says(f, "unknown protocol"))
        return err_set(err, EPROTO,
                       "%s: something that is not TLS answers on that port (is it an http:// "
                       "address?)",
                       f->server);
    if (says(f, "Connection reset") || says(f, "SSL_ERROR_SYSCALL") || says(f, "unexpected eof"))
        return err_set(err, ECONNRESET, "%s: the connection was closed during the TLS handshake",
                       f->server);
    if (says(f, "alert protocol version") || says(f, "unsupported protocol"))
        return err_set(err, EPROTO, "%s: the server does not speak TLS 1.2 or newer", f->server);
    return err_set(err, EPROTO, "%s: no TLS connection: %s", f->server, f->detail);
}

/* --- the way there --- */

static int no_connection(const struct curl_failure *f, struct err *err) {
    const char *what = f->proxy ? "the proxy " : "", *where = f->proxy ? f->proxy : f->server;
    switch (f->os_errno) {
    case ECONNREFUSED:
        return err_set(err, ECONNREFUSED, "cannot reach %s%s: connection refused", what, where);
    case ETIMEDOUT:
        return err_set(err, ETIMEDOUT, "cannot reach %s%s: connection timed out", what, where);
    case ECONNRESET:
        return err_set(err, ECONNRESET, "cannot reach %s%s: connection reset", what, where);
    case 0:
        return err_set(err, EHOSTUNREACH, "cannot reach %s%s: %s", what, where,
                       str_empty(f->detail) ? curl_easy_strerror(f->code) : f->detail);
    default:
        return err_set(err, EHOSTUNREACH, "cannot reach %s%s: %s", what, where,
                       strerror((int)f->os_errno));
    }
}

static int broken(const struct curl_failure *f, struct err *err) {
    if (f->answered)
        return err_set(err, ECONNRESET, "%s: the connection broke in the middle of the answer",
                       f->server);
    return err_set(err, ECONNRESET, "%s: the connection broke before an answer came", f->server);
}

/* Failures that end a connection which was there. */
static int interrupted(const struct curl_failure *f, bool *sent, struct err *err) {
    if (f->connect_code) {
        *sent = false;
        return err_set(err, f->connect_code == 407 ? EACCES : EHOSTUNREACH,
                       "the proxy %s does not connect us to %s: it answered %ld", strna(f->proxy),
                       f->server, f->connect_code);
    }
    if (refuses_client(f)) {
        /* With TLS 1.3 the request leaves before the server has looked at our certificate; a server
         * that then breaks off the handshake has not read it. */
        *sent = false;
        return err_set(err, EPROTO, "%s: the server refuses our client certificate (%s)", f->server,
                       f->detail);
    }
    if (says(f, "chunk hex-length") || says(f, "in chunked-encoding"))
        return err_set(err, EPROTO, "%s answered with something that is not HTTP (%s)", f->server,
                       f->detail);
    return broken(f, err);
}

int curl_error_explain(const struct curl_failure *f, bool *sent, struct err *err) {
    *sent = f->sent;
    switch (f->code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return err_set(err, EHOSTUNREACH, "cannot reach %s: the name %s cannot be resolved (DNS)",
                       f->server, f->host);
    case CURLE_COULDNT_RESOLVE_PROXY:
        return err_set(err, EHOSTUNREACH,
                       "cannot reach the proxy %s: its name cannot be resolved (DNS)",
                       strna(f->proxy));
    case CURLE_COULDNT_CONNECT:
        return no_connection(f, err);
    case CURLE_OPERATION_TIMEDOUT:
        if (!f->sent)
            return err_set(err, ETIMEDOUT, "cannot reach %s%s%s: no connection within %lld s",
                           f->server, f->proxy ? " through the proxy " : "", strna(f->proxy),
                           (long long)(f->connect_timeout / USEC_PER_SEC));
        return err_set(err, ETIMEDOUT, "%s: no answer in time", f->server);
    case CURLE_PROXY:
        return err_set(err, EHOSTUNREACH, "the proxy %s does not connect us to %s: %s",
                       strna(f->proxy), f->server, f->detail);
    case CURLE_PEER_FAILED_VERIFICATION:
        return bad_certificate(f, err);
    case CURLE_SSL_CONNECT_ERROR:
        if (refuses_client(f))
            return interrupted(f, sent, err);
        return no_handshake(f, err);
    case CURLE_SSL_CLIENTCERT:
        return interrupted(f, sent, err);
    case CURLE_SSL_CERTPROBLEM:
        return err_set(err, EINVAL, "the client certificate cannot be used: %s", f->detail);
    case CURLE_SSL_CACERT_BADFILE:
        return err_set(err, EINVAL, "the certificate authority cannot be used: %s", f->detail);
    case CURLE_UNSUPPORTED_PROTOCOL: /* HTTP/0.9 */
    case CURLE_WEIRD_SERVER_REPLY:
        return err_set(err, EPROTO, "%s answered with something that is not HTTP", f->server);
    case CURLE_BAD_CONTENT_ENCODING:
        return err_set(err, EPROTO, "%s: the compressed answer is damaged", f->server);
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return err_set(err, ECONNRESET, "%s: the HTTP/2 connection broke: %s", f->server,
                       f->detail);
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_PARTIAL_FILE:
    case CURLE_ABORTED_BY_CALLBACK: /* we do not let libcurl send it twice */
        return interrupted(f, sent, err);
    case CURLE_OUT_OF_MEMORY:
        /* What libcurl says, too, when a single header line is longer than its own limit. */
        if (f->sent && !f->answered)
            return err_set(err, EPROTO, "%s answered with headers that are too long", f->server);
        return err_set(err, ENOMEM, "%s: out of memory", f->server);
    case CURLE_URL_MALFORMAT:
        return err_set(err, EINVAL, "%s: the address cannot be used: %s", f->server, f->detail);
    default:
        return err_set(err, EIO, "%s: %s", f->server,
                       str_empty(f->detail) ? curl_easy_strerror(f->code) : f->detail);
    }
}

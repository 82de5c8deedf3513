/* Certificates for a server that has none. */
#include "net/selfsigned.h"

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "net/authority.h"

#define LASTS SEC(INT64_C(365) * 24 * 3600)

int selfsigned_make(const char *cn, const char *const *names, int64_t now, struct selfsigned *out,
                    struct err *err) {
    static const char *const always[] = {"127.0.0.1", "::1", "localhost"};
    _cleanup_cert_pair_ struct cert_pair ca = {0};
    struct cert_pair server;
    VEC(const char *) all = VEC_INIT;
    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        *vec_push(&all) = always[i];
    for (size_t i = 0; names && names[i]; i++)
        *vec_push(&all) = names[i];
    *vec_push(&all) = NULL;
    int rc = authority_make(&(struct cert_spec){.cn = cn, .now = now, .lasts = LASTS}, &ca, err);
    if (!rc)
        rc = authority_issue(
            &ca, &(struct cert_spec){.cn = "localhost", .names = all.p, .now = now, .lasts = LASTS},
            &server, err);
    vec_done(&all);
    if (rc)
        return rc;
    *out = (struct selfsigned){TAKE_PTR(ca.cert), server.cert, server.key};
    return 0;
}

void selfsigned_done(struct selfsigned *s) {
    struct cert_pair server = {s->cert, s->key};
    mem_clear(&s->ca);
    cert_pair_done(&server);
    s->cert = s->key = NULL;
}

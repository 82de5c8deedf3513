/* Formats of texts that are addresses, as Go's net, net/mail and net/url read them: of hosts and
 * networks (structural_address.c), of mail (structural_mail.c), of anything (structural_uri.c). */
#ifndef SIM_API_STRUCTURAL_ADDRESS_H
#define SIM_API_STRUCTURAL_ADDRESS_H

#include <stdbool.h>

#include "base/str.h"

/* net.ParseIP(). `sloppy` allows leading zeros in the parts of an IPv4 address, as Kubernetes does
 * where it always did. Four or six, or 0 when it is none; ::ffff:1.2.3.4 is a six. */
int address_ip(struct view text, bool sloppy);
/* ParseCIDRSloppy(): "10.0.0.0/8". */
bool address_cidr(struct view text);
/* net.ParseMAC(). */
bool address_mac(struct view text);
/* mail.ParseAddress(): "a@b.c", "Name <a@b.c>". Encoded words (=?utf-8?...?=) in names are taken
 * for words. */
bool address_mail(struct view text);
/* url.ParseRequestURI(): an absolute URI or an absolute path. With `authority`, it also must have a
 * scheme and a host. */
bool address_uri(struct view text, bool authority);

/* --- parts of views, for the three files --- */

static inline const char *view_find(struct view v, char c) {
    return v.len ? memchr(v.p, c, v.len) : NULL;
}
static inline const char *view_rfind(struct view v, char c) {
    return v.len ? memrchr(v.p, c, v.len) : NULL;
}
static inline struct view view_skip(struct view v, size_t n) {
    return (struct view){v.p + n, v.len - n};
}
static inline struct view view_from(struct view v, const char *at) {
    return (struct view){at, (size_t)(v.p + v.len - at)};
}
static inline struct view view_upto(struct view v, const char *at) {
    return (struct view){v.p, (size_t)(at - v.p)};
}

#endif

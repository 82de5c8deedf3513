/* IP addresses and CIDR blocks, read as Kubernetes reads them: leading zeros, which old versions
 * let through, are told apart from text that is no address at all. */
#include <arpa/inet.h>

#include "sim/api/strategy_kinds.h"

struct address {
    enum address_family family;
    bool strict; /* also by today's rules */
    unsigned char bytes[16];
};

/* Four decimal numbers, each with any number of leading zeros. */
static bool parse_v4(const char *text, struct address *out) {
    *out = (struct address){.family = ADDRESS_V4, .strict = true};
    for (int i = 0; i < 4; i++) {
        size_t digits = strspn(text, "0123456789");
        unsigned long n = strtoul(text, NULL, 10);
        if (digits == 0 || digits > 9 || n > 255)
            return false;
        out->strict &= digits == 1 || *text != '0';
        out->bytes[i] = (unsigned char)n;
        text += digits;
        if (i < 3 && *text++ != '.')
            return false;
    }
    return !*text;
}

static bool parse(const char *text, struct address *out) {
    if (parse_v4(text, out))
        return true;
    *out = (struct address){.family = ADDRESS_V6, .strict = true};
    return inet_pton(AF_INET6, text, out->bytes) == 1;
}

static bool is_mapped(const struct address *a) {
    static const unsigned char prefix[12] = {[10] = 0xff, [11] = 0xff};
    return a->family == ADDRESS_V6 && memcmp(a->bytes, prefix, sizeof prefix) == 0;
}

/* `bits` is -1 when there is no length. */
static bool parse_cidr(const char *text, struct address *out, int *bits, bool *strict_bits) {
    const char *slash = strchr(text, '/');
    if (!slash)
        return false;
    _cleanup_free_ char *address = xstrndup(text, (size_t)(slash - text));
    size_t digits = strspn(slash + 1, "0123456789");
    if (!parse(address, out) || digits == 0 || digits > 9 || slash[1 + digits])
        return false;
    *bits = (int)strtol(slash + 1, NULL, 10);
    *strict_bits = digits == 1 || slash[1] != '0';
    return *bits <= (out->family == ADDRESS_V4 ? 32 : 128);
}

static bool bits_beyond(const struct address *a, int bits) {
    int n = a->family == ADDRESS_V4 ? 32 : 128;
    for (int i = bits; i < n; i++)
        if (a->bytes[i / 8] & 0x80 >> i % 8)
            return true;
    return false;
}

enum address_family address_family(const char *text) {
    struct address a;
    int bits;
    bool strict;
    if (strchr(text, '/') ? parse_cidr(text, &a, &bits, &strict) : parse(text, &a))
        return is_mapped(&a) ? ADDRESS_V4 : a.family;
    return ADDRESS_NONE;
}

static const char *item_text(const json_t *item, const char *key) {
    return strna(key ? json_str(item, key) : json_string_value(item));
}

static bool was_there(const json_t *old, const char *key, const char *value) {
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)old, i, item) if (streq(item_text(item, key), value)) return true;
    return false;
}

void check_ip(struct field_errors *e, const struct at *at, const char *value, const json_t *old,
              const char *key) {
    struct address a;
    const char *why = !parse(value, &a)
                          ? "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
                      : !a.strict     ? "must not have leading 0s"
                      : is_mapped(&a) ? "must not be an IPv4-mapped IPv6 address"
                                      : NULL;
    if (why && !was_there(old, key, value))
        bad_string(e, at, NULL, value, "%s", why);
}

void check_cidr(struct field_errors *e, const struct at *at, const char *value, const json_t *old) {
    struct address a;
    int bits;
    bool strict_bits;
    const char *why = !parse_cidr(value, &a, &bits, &strict_bits)
                          ? "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
                      : !a.strict || !strict_bits
                          ? "must not have leading 0s in IP or prefix length"
                      : is_mapped(&a)         ? "must not have an IPv4-mapped IPv6 address"
                      : bits_beyond(&a, bits) ? "must not have bits set beyond the prefix length"
                                              : NULL;
    if (why && !was_there(old, NULL, value))
        bad_string(e, at, NULL, value, "%s", why);
}

bool addresses_are_dual(const json_t *list, const char *key) {
    bool v4 = false, v6 = false;
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)list, i, item) {
        enum address_family f = address_family(item_text(item, key));
        v4 |= f == ADDRESS_V4;
        v6 |= f == ADDRESS_V6;
    }
    return v4 && v6;
}

void check_dual_stack(struct field_errors *e, const struct at *list, const char *key,
                      const struct gotype *type) {
    size_t n = json_array_size(list->v);
    bool cidr = !key;
    if (n < 2)
        return;
    for (size_t i = 0; i < n; i++) {
        const char *text = item_text(json_array_get(list->v, i), key);
        if (address_family(text) != ADDRESS_NONE)
            continue;
        _cleanup_str_ struct str path = STR_INIT;
        at_path(list, NULL, &path);
        if (cidr)
            field_error_shown(
                e, FIELD_INTERNAL, str_get(&path), NULL,
                "invalid PodCIDRs. failed to check with dual stack with error:invalid "
                "CIDR[%zu]: <nil> (invalid CIDR address: %s)",
                i, text);
        else
            field_error_shown(e, FIELD_INTERNAL, str_get(&path), NULL,
                              "failed to check for dual stack with error:invalid IP[%zu]: %s", i,
                              text);
        break;
    }
    if (addresses_are_dual(list->v, key) && n == 2)
        return;
    _cleanup_json_ json_t *shown =
        type ? gotype_list(type, list->v) : json_incref((json_t *)list->v);
    bad_value(e, list, NULL, shown, "may specify no more than one %s for each IP family",
              cidr ? "CIDR" : "IP");
}

void check_endpoint_ip(struct field_errors *e, const struct at *at, const char *value) {
    static const unsigned char zero[16], one[16] = {[15] = 1};
    struct address a;
    if (!parse(value, &a)) {
        bad_string(e, at, NULL, value, "must be a valid IP address");
        return;
    }
    bool v4 = a.family == ADDRESS_V4;
    const unsigned char *b = a.bytes;
    if (memcmp(b, zero, v4 ? 4 : 16) == 0)
        bad_string(e, at, NULL, value, "may not be unspecified (%s)", value);
    if (v4 ? b[0] == 127 : memcmp(b, one, 16) == 0)
        bad_string(e, at, NULL, value, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    if (v4 ? b[0] == 169 && b[1] == 254 : b[0] == 0xfe && (b[1] & 0xc0) == 0x80)
        bad_string(e, at, NULL, value,
                   "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    if (v4 ? b[0] == 224 && b[1] == 0 && b[2] == 0 : b[0] == 0xff && (b[1] & 0x0f) == 0x02)
        bad_string(e, at, NULL, value,
                   "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
}

/* Addresses of hosts and networks. */
#include "sim/api/structural_address.h"

#include <ctype.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_hex(char c) {
    return isxdigit((unsigned char)c);
}

static bool is_ipv4(struct view v, bool sloppy) {
    for (int part = 0; part < 4; part++) {
        if (part && !(v.len && *v.p == '.'))
            return false;
        if (part)
            v = view_skip(v, 1);
        size_t n = 0;
        int value = 0;
        for (; n < v.len && is_digit(v.p[n]); n++) {
            value = value * 10 + (v.p[n] - '0');
            if (value > 255)
                return false;
        }
        if (!n || (!sloppy && n > 1 && *v.p == '0') || (!sloppy && n > 3))
            return false;
        v = view_skip(v, n);
    }
    return !v.len;
}

/* Up to eight groups of up to four digits, a gap once, an IPv4 address as the last two groups. */
static bool is_ipv6(struct view v, bool sloppy) {
    int groups = 0;
    bool gap = false;
    if (v.len >= 2 && v.p[0] == ':' && v.p[1] == ':') {
        gap = true;
        v = view_skip(v, 2);
        if (!v.len)
            return true;
    }
    while (groups < 8) {
        size_t n = 0;
        while (n < v.len && is_hex(v.p[n]))
            n++;
        if (!n || (n < v.len && v.p[n] == '.')) {
            if (!n || (!gap && groups != 6) || groups > 6 || !is_ipv4(v, sloppy))
                return false;
            groups += 2;
            v.len = 0;
            break;
        }
        if (n > 4)
            return false;
        groups++;
        v = view_skip(v, n);
        if (!v.len)
            break;
        if (*v.p != ':' || v.len == 1)
            return false;
        v = view_skip(v, 1);
        if (*v.p == ':') {
            if (gap)
                return false;
            gap = true;
            v = view_skip(v, 1);
            if (!v.len)
                break;
        }
    }
    return !v.len && (gap ? groups < 8 : groups == 8);
}

int address_ip(struct view text, bool sloppy) {
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] == '.')
            return is_ipv4(text, sloppy) ? 4 : 0;
        if (text.p[i] == ':')
            return is_ipv6(text, sloppy) ? 6 : 0;
    }
    return 0;
}

bool address_cidr(struct view text) {
    const char *slash = view_find(text, '/');
    if (!slash)
        return false;
    struct view bits = view_from(text, slash + 1);
    struct view address = view_upto(text, slash);
    int family = is_ipv4(address, true) ? 4 : is_ipv6(address, true) ? 6 : 0;
    int n = 0;
    for (size_t i = 0; i < bits.len; i++) {
        if (!is_digit(bits.p[i]) || (n = n * 10 + (bits.p[i] - '0')) > 128)
            return false;
    }
    return bits.len && family && n <= (family == 4 ? 32 : 128);
}

bool address_mac(struct view v) {
    size_t digits = 0, group;
    char between = 0;
    if (v.len < 12)
        return false;
    if (v.p[2] == ':' || v.p[2] == '-') {
        group = 2;
        between = v.p[2];
    } else if (v.p[4] == '.') {
        group = 4;
        between = '.';
    } else {
        group = v.len;
    }
    for (size_t i = 0; i < v.len; i++) {
        bool separates = between && i % (group + 1) == group;
        if (separates ? v.p[i] != between : !is_hex(v.p[i]))
            return false;
        digits += !separates;
    }
    if (between && v.p[v.len - 1] == between)
        return false;
    return (digits == 12 || digits == 16 || digits == 40) && (!between || digits % group == 0);
}

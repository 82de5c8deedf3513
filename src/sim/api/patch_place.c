/* Where in Kubernetes' types a strategic patch is: what the server asks Go's reflection for
 * (third_party/forked/golang/json and strategicpatch/meta.go of apimachinery), out of the schema.
 */
#include "sim/api/patch_internal.h"
#include "sim/schema/goquote.h"

/* The kind of a single value of this field: an item of its list or map, or what it points to. */
static const char *kind_of(const struct schema_field *f) {
    switch ((enum schema_kind)f->kind) {
    case SCHEMA_STRING:
        return "string";
    case SCHEMA_BOOL:
        return "bool";
    case SCHEMA_INT32:
        return "int32";
    case SCHEMA_INT64:
        return "int64";
    case SCHEMA_DOUBLE:
        return "float64";
    case SCHEMA_BYTES:
    case SCHEMA_STRINGS:
        return "slice";
    default:
        return "struct";
    }
}

static const char *last_word(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* What Go calls the struct that a single value of this field is. */
static const char *name_of(const struct schema_field *f) {
    switch ((enum schema_kind)f->kind) {
    case SCHEMA_TIME:
        return "Time";
    case SCHEMA_MICROTIME:
        return "MicroTime";
    case SCHEMA_QUANTITY:
        return "Quantity";
    case SCHEMA_INTSTR:
        return "IntOrString";
    case SCHEMA_RAW:
        return "RawExtension";
    case SCHEMA_OR_BOOL:
        return "JSONSchemaPropsOrBool";
    case SCHEMA_OR_LIST:
        return "JSONSchemaPropsOrArray";
    case SCHEMA_OR_STRINGS:
        return "JSONSchemaPropsOrStringArray";
    default:
        return f->of ? last_word(f->of->name) : "";
    }
}

static struct place place_of(const struct schema_field *f, const char *kind, const char *under) {
    return (struct place){
        .kind = kind,
        .under = under,
        .name = name_of(f),
        .of = f->kind == SCHEMA_OBJECT ? f->of : NULL,
    };
}

struct place place_root(const struct schema *s) {
    return (struct place){"struct", "struct", last_word(s->name), s};
}

/* Go takes a key for a field's without regard to case when no field has it exactly. Two characters
 * beyond ASCII fold into it: the Kelvin sign and the long s. */
static bool same_folded(const char *name, const char *key) {
    for (; *name; name++) {
        char n = *name;
        if (n >= 'A' && n <= 'Z')
            n = (char)(n + ('a' - 'A'));
        if (n == 'k' && str_starts(key, "\xe2\x84\xaa")) {
            key += 3;
        } else if (n == 's' && str_starts(key, "\xc5\xbf")) {
            key += 2;
        } else {
            char k = *key >= 'A' && *key <= 'Z' ? (char)(*key + ('a' - 'A')) : *key;
            if (n != k)
                return false;
            key++;
        }
    }
    return !*key;
}

static const struct schema_field *find_folded(const struct schema *s, const char *key) {
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct schema_field *f = &s->fields[i];
        if (f->flags & SCHEMA_INLINE) {
            const struct schema_field *inner = find_folded(f->of, key);
            if (inner)
                return inner;
        } else if (same_folded(f->json, key)) {
            return f;
        }
    }
    return NULL;
}

static int find(struct place at, const char *key, const struct schema_field **field,
                struct strategy *strategy, struct err *err) {
    if (!streq(at.under, "struct"))
        return err_set(err, PATCH_BROKEN,
                       "merging an object in json but data type is not struct, instead is: %s",
                       at.under);
    const struct schema_field *f = at.of ? schema_field(at.of, key, strlen(key)) : NULL;
    if (!f && at.of)
        f = find_folded(at.of, key);
    if (!f) {
        _cleanup_str_ struct str quoted = STR_INIT;
        goquote(&quoted, key, strlen(key));
        return err_set(err, PATCH_BROKEN,
                       "unable to find api field in struct %s for the json field %s", at.name,
                       str_get(&quoted));
    }
    *field = f;
    *strategy = (struct strategy){
        .merge = f->flags & SCHEMA_MERGE,
        .replace = f->flags & SCHEMA_REPLACE,
        .merge_key = strna(f->merge_key),
    };
    return 0;
}

int place_field(struct place at, const char *key, struct place *field, struct strategy *strategy,
                struct err *err) {
    const struct schema_field *f = NULL;
    int rc = find(at, key, &f, strategy, err);
    if (rc)
        return rc;
    const char *under = f->flags & SCHEMA_LIST  ? "slice"
                        : f->flags & SCHEMA_MAP ? "map"
                                                : kind_of(f);
    *field = place_of(f, f->flags & SCHEMA_POINTER ? "ptr" : under, under);
    return 0;
}

int place_items(struct place at, const char *key, struct place *items, struct strategy *strategy,
                struct err *err) {
    const struct schema_field *f = NULL;
    int rc = find(at, key, &f, strategy, err);
    if (rc)
        return rc;
    const char *one = kind_of(f);
    if (f->flags & SCHEMA_LIST) {
        if (streq(one, "slice"))
            return err_set(err, PATCH_BROKEN, "unexpected slice of slice");
        *items = place_of(f, one, one);
    } else if (f->flags & SCHEMA_POINTER) {
        *items = place_of(f, one, one);
    } else if (!(f->flags & SCHEMA_MAP) && streq(one, "slice")) {
        const char *item = f->kind == SCHEMA_BYTES ? "uint8" : "string";
        *items = place_of(f, item, item);
    } else {
        return err_set(err, PATCH_BROKEN, "expected slice or array type, but got: %s", at.kind);
    }
    return 0;
}

/* Tests of src/engine/trouble.c: pods as kubelets and schedulers leave them. */
#include "engine/trouble.h"

#include "support/world.h"

#include <stdio.h>

#include "base/str.h"

static char *trouble(const char *json) {
    struct world w;
    struct str text = STR_INIT;
    world_init(&w);
    bool any = pod_trouble(world_add(&w, &kind_pod, json), &text);
    assert_int_equal(any, text.len > 0);
    world_done(&w);
    return str_take(&text);
}

static void says(const char *json, const char *expected) {
    _cleanup_free_ char *text = trouble(json);
    assert_string_equal(text, expected);
}

#define META "'metadata':{'name':'p','namespace':'n'}"

static void pods_that_are_well_have_none(void **state) {
    (void)state;
    says("{" META ",'spec':{'nodeName':'a'},'status':{'phase':'Running','conditions':[{'type':"
         "'Ready','status':'True'}]}}",
         "");
    says("{" META ",'spec':{'nodeName':'a'},'status':{'phase':'Succeeded'}}", "");
    says("{" META ",'spec':{'nodeName':'a'},'status':{'phase':'Failed'}}", "");
}

static void the_schedulers_message_is_passed_on(void **state) {
    (void)state;
    says("{" META ",'status':{'phase':'Pending','conditions':[{'type':'PodScheduled','status':"
         "'False','reason':'Unschedulable','message':'0/3 nodes are available: 3 Insufficient "
         "memory.'}]}}",
         "is Pending: 0/3 nodes are available: 3 Insufficient memory");
    says("{" META ",'status':{'phase':'Pending','conditions':[{'type':'PodScheduled','status':"
         "'False','reason':'Unschedulable','message':'0/3 nodes are available: 3 Insufficient "
         "memory. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No "
         "preemption victims found for incoming pod.'}]}}",
         "is Pending: 0/3 nodes are available: 3 Insufficient memory");
    says("{" META ",'status':{'phase':'Pending','conditions':[{'type':'PodScheduled','status':"
         "'False','reason':'SchedulingGated'}]}}",
         "is Pending: SchedulingGated");
    says("{" META ",'status':{'phase':'Pending'}}", "is Pending on no node yet");
}

static void a_long_message_is_cut(void **state) {
    (void)state;
    char json[1024], many[401];
    memset(many, 'x', 400);
    many[400] = '\0';
    snprintf(json, sizeof json,
             "{" META ",'status':{'phase':'Pending','conditions':[{'type':'PodScheduled','status':"
             "'False','message':'%s'}]}}",
             many);
    _cleanup_free_ char *text = trouble(json);
    assert_int_equal(strlen(text), strlen("is Pending: ") + 200 + 3);
    assert_true(str_ends(text, "x..."));
}

static void containers_that_do_not_start_are_named(void **state) {
    (void)state;
    says("{" META ",'spec':{'nodeName':'a'},'status':{'phase':'Running','containerStatuses':[{"
         "'name':'ok','ready':true,'state':{'running':{}}},{'name':'app','restartCount':7,'state':"
         "{'waiting':{'reason':'CrashLoopBackOff','message':'back-off 5m0s'}}}]}}",
         "has container app in CrashLoopBackOff after 7 restarts");
    says("{" META ",'spec':{'nodeName':'a'},'status':{'phase':'Pending','containerStatuses':[{"
         "'name':'app','state':{'waiting':{'reason':'ImagePullBackOff','message':'no such "
         "image'}}}]}}",
         "has container app in ImagePullBackOff: no such image");
    /* an init container comes first: the others wait for it */
    says("{" META ",'spec':{'nodeName':'a'},'status':{'phase':'Pending','initContainerStatuses':[{"
         "'name':'init','state':{'waiting':{'reason':'CreateContainerError'}}}],"
         "'containerStatuses':[{'name':'app','state':{'waiting':{'reason':'PodInitializing'}}}]}}",
         "has container init in CreateContainerError");
}

static void what_only_needs_time_is_said_so(void **state) {
    (void)state;
    says("{" META ",'spec':{'nodeName':'a'},'status':{'phase':'Pending','containerStatuses':[{"
         "'name':'app','state':{'waiting':{'reason':'ContainerCreating'}}}]}}",
         "is Pending on a");
    says("{" META ",'spec':{'nodeName':'a'},'status':{'phase':'Running','conditions':[{'type':"
         "'Ready','status':'False'}]}}",
         "runs but is not ready");
    says("{'metadata':{'name':'p','namespace':'n','deletionTimestamp':'2026-11-15T00:00:00Z'},"
         "'spec':{'nodeName':'a'},'status':{'phase':'Running','conditions':[{'type':'Ready',"
         "'status':'True'}]}}",
         "is terminating");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_that_are_well_have_none),
        cmocka_unit_test(the_schedulers_message_is_passed_on),
        cmocka_unit_test(a_long_message_is_cut),
        cmocka_unit_test(containers_that_do_not_start_are_named),
        cmocka_unit_test(what_only_needs_time_is_said_so),
    };
    return cmocka_run_group_tests_name("engine/trouble", tests, NULL, NULL);
}

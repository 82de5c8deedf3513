// informers holds every node, pod and PodDisruptionBudget of a cluster in client-go's shared informers, the way most
// controllers written in Go do, and tells what that costs.
//
//	informers -kubeconfig FILE [-transform] [-json]
//
// One JSON line when all three are synced, one more for each line read from standard input, a last one at its end or at
// SIGTERM.  If the line read is "gc", garbage is collected and given back to the system before.  -transform drops
// managedFields from each object before it is stored; -json asks for JSON instead of protobuf.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// report has the names of the Slipway holder's line; rss_file_kb and hwm_kb are what only this program prints.
type report struct {
	Synced    bool    `json:"synced"`
	RssAnonKB int64   `json:"rss_anon_kb"`
	RssFileKB int64   `json:"rss_file_kb"`
	HwmKB     int64   `json:"hwm_kb"`
	CPU       float64 `json:"cpu_s"`
	Wall      float64 `json:"wall_s"`
	Nodes     int     `json:"nodes"`
	Pods      int     `json:"pods"`
	PDBs      int     `json:"pdbs"`
}

func memory(r *report) error {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return err
	}
	defer file.Close()
	fields := map[string]*int64{"RssAnon:": &r.RssAnonKB, "RssFile:": &r.RssFileKB, "VmHWM:": &r.HwmKB}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 2 || fields[words[0]] == nil {
			continue
		}
		if *fields[words[0]], err = strconv.ParseInt(words[1], 10, 64); err != nil {
			return err
		}
	}
	return nil
}

func cpuSeconds() (float64, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, err
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime), nil
}

func dropManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

func run() error {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "kubeconfig file")
	transform := flag.Bool("transform", false, "drop managedFields before storing")
	asJSON := flag.Bool("json", false, "JSON instead of protobuf")
	flag.Parse()

	begun := time.Now()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	if !*asJSON {
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
		config.ContentType = "application/vnd.kubernetes.protobuf"
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	var options []informers.SharedInformerOption
	if *transform {
		options = append(options, informers.WithTransform(dropManagedFields))
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, options...)
	stores := []cache.SharedIndexInformer{
		factory.Core().V1().Nodes().Informer(),
		factory.Core().V1().Pods().Informer(),
		factory.Policy().V1().PodDisruptionBudgets().Informer(),
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("%v did not sync", kind)
		}
	}
	wall := time.Since(begun).Seconds()

	output := json.NewEncoder(os.Stdout)
	print := func() error {
		r := report{Synced: true, Wall: wall}
		if r.CPU, err = cpuSeconds(); err != nil {
			return err
		}
		if err := memory(&r); err != nil {
			return err
		}
		for _, store := range stores {
			items := store.GetStore().List()
			if len(items) == 0 {
				continue
			}
			switch items[0].(type) {
			case *corev1.Node:
				r.Nodes = len(items)
			case *corev1.Pod:
				r.Pods = len(items)
			case *policyv1.PodDisruptionBudget:
				r.PDBs = len(items)
			}
		}
		return output.Encode(r)
	}
	if err := print(); err != nil {
		return err
	}

	asked := make(chan string)
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			asked <- lines.Text()
		}
		close(asked)
	}()
	for {
		select {
		case line, open := <-asked:
			if line == "gc" {
				debug.FreeOSMemory()
			}
			if err := print(); err != nil || !open {
				return err
			}
		case <-ctx.Done():
			return print()
		}
	}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "informers:", err)
		os.Exit(1)
	}
}

// Package engine says, offline, what a cluster would answer to a manifest of a
// custom resource: CRD pruning, defaulting and validation by the API server's
// own packages, then whatever Admission is plugged in.
package engine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"runtime/pprof"
	"sort"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

type object = map[string]interface{}

// Admission is what stands behind the API server: webhooks, or a part of them.
type Admission interface {
	// SetQueues replaces the queues that exist.
	SetQueues([]map[string]interface{}) error
	// TrackQueue adds a queue, or replaces one.
	TrackQueue(map[string]interface{}) error
	// Mutate returns the object as the mutating webhooks leave it, or why it is denied.
	Mutate(c *CRD, op admissionv1.Operation, obj map[string]interface{}) (out map[string]interface{}, denied string, err error)
	// Validate returns why the object is denied, or "".
	Validate(c *CRD, op admissionv1.Operation, obj, old map[string]interface{}) (denied string, err error)
}

// Options are the flags that an Admission may need.
type Options struct {
	SchedulerNames []string
	MaxQueueDepth  int
}

type request struct {
	ID     interface{}       `json:"id,omitempty"`
	Op     string            `json:"op,omitempty"`  // create (default), update, delete, read, kustomize
	Via    string            `json:"via,omitempty"` // update only: apply (default) or put
	Object object            `json:"object,omitempty"`
	Old    object            `json:"old,omitempty"`
	YAML   string            `json:"yaml,omitempty"`
	OldY   string            `json:"oldYaml,omitempty"`
	Queues []object          `json:"queues,omitempty"`
	Files  map[string]string `json:"files,omitempty"` // kustomize: texts by name
}

type answer struct {
	ID        interface{} `json:"id,omitempty"`
	Op        string      `json:"op"`
	Kind      string      `json:"kind"`
	Namespace string      `json:"namespace,omitempty"`
	Name      string      `json:"name"`
	Allowed   bool        `json:"allowed"`
	Stage     string      `json:"stage,omitempty"`
	Message   string      `json:"message,omitempty"`
	Pruned    []string    `json:"pruned"`
	Drift     []string    `json:"drift"`
	Later     []string    `json:"later,omitempty"` // paths that a controller writes into the spec afterwards
	Detail    []change    `json:"driftDetail,omitempty"`
	NoOp      *bool       `json:"noop,omitempty"`        // update: nothing would be written
	SpecDiff  *bool       `json:"specChanged,omitempty"` // update: metadata.generation would rise
	Defaulted object      `json:"defaulted,omitempty"`
	Value     interface{} `json:"value,omitempty"` // read: what the YAML holds; kustomize: the objects
}

type change struct {
	Path string      `json:"path"`
	Was  interface{} `json:"was,omitempty"`
	Now  interface{} `json:"now,omitempty"`
}

type oracle struct {
	builtIns BuiltIns
	crds     map[schema.GroupVersionKind]*CRD
	hooks    Admission
	track    bool
	withObj  bool
	defaultQ []object
}

// Main is the command: it reads flags and arguments, answers, and exits.
func Main(newAdmission func(Options) (Admission, error), builtIns BuiltIns) {
	crdDir := flag.String("crds", os.Getenv("VOLCANO_CRDS"), "folder of CRD YAML files")
	queues := flag.String("queues", "", "YAML file of the Queues that exist (default: root and default, Open)")
	track := flag.Bool("track-queues", true, "an allowed Queue exists for the objects after it")
	noObj := flag.Bool("no-defaulted", false, "leave the resulting object out of the answers")
	depth := flag.Int("max-queue-depth", 5, "webhook-manager's --max-queue-depth")
	sched := flag.String("scheduler-name", "volcano", "webhook-manager's --scheduler-name, comma separated")
	via := flag.String("via", "apply", "update: apply (three-way merge, as kubectl) or put (replace)")
	verbose := flag.Bool("klog", false, "let the webhooks log to stderr")
	prof := flag.String("cpuprofile", "", "write a CPU profile to this file")
	flag.Parse()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800) // small heap, much garbage
	}
	if *prof != "" {
		f, err := os.Create(*prof)
		if err != nil {
			fail(err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			fail(err)
		}
		defer pprof.StopCPUProfile()
	}
	if !*verbose {
		fs := flag.NewFlagSet("klog", flag.ContinueOnError)
		klog.InitFlags(fs)
		_ = fs.Set("logtostderr", "false")
		_ = fs.Set("stderrthreshold", "FATAL")
		klog.SetOutput(io.Discard)
	}
	if flag.NArg() == 0 {
		fail(errors.New("usage: [flags] create [FILE...] | update OLD NEW | serve"))
	}
	crds, err := loadCRDs(*crdDir)
	if err != nil {
		fail(err)
	}
	if len(crds) == 0 {
		fail(fmt.Errorf("no CRDs in %q (set --crds)", *crdDir))
	}
	hooks, err := newAdmission(Options{SchedulerNames: strings.Split(*sched, ","), MaxQueueDepth: *depth})
	if err != nil {
		fail(err)
	}
	o := &oracle{builtIns: builtIns, crds: crds, hooks: hooks, track: *track, withObj: !*noObj}
	if *queues != "" {
		if o.defaultQ, err = readFile(*queues); err != nil {
			fail(err)
		}
	}
	if err := hooks.SetQueues(o.defaultQ); err != nil {
		fail(err)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	bad := false
	emit := func(a answer) {
		bad = bad || !a.Allowed
		if err := enc.Encode(a); err != nil {
			fail(err)
		}
	}
	switch cmd, args := flag.Arg(0), flag.Args()[1:]; cmd {
	case "create":
		if len(args) == 0 {
			args = []string{"-"}
		}
		for _, f := range args {
			objs, err := readFile(f)
			if err != nil {
				fail(err)
			}
			for _, m := range objs {
				emit(o.do(request{Op: "create", Object: m}))
			}
		}
	case "update":
		if len(args) != 2 {
			fail(errors.New("update OLD NEW"))
		}
		olds, err := readFile(args[0])
		if err != nil {
			fail(err)
		}
		news, err := readFile(args[1])
		if err != nil {
			fail(err)
		}
		if len(olds) != len(news) {
			fail(fmt.Errorf("%d old objects, %d new", len(olds), len(news)))
		}
		for i := range news {
			emit(o.do(request{Op: "update", Via: *via, Old: olds[i], Object: news[i]}))
		}
	case "serve":
		in := bufio.NewReaderSize(os.Stdin, 1<<20)
		for {
			line, err := in.ReadBytes('\n')
			if len(bytes.TrimSpace(line)) > 0 {
				var r request
				if jerr := unmarshalInto(line, &r); jerr != nil {
					emit(answer{Stage: "request", Message: jerr.Error()})
				} else {
					if r.Via == "" {
						r.Via = *via
					}
					emit(o.do(r))
				}
				if in.Buffered() == 0 {
					out.Flush()
				}
			}
			if err != nil {
				break
			}
		}
		bad = false
	default:
		fail(fmt.Errorf("unknown mode %q", cmd))
	}
	out.Flush()
	if bad {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, os.Args[0]+":", err)
	os.Exit(2)
}

// unmarshalInto keeps whole numbers as int64, as the API server does.
func unmarshalInto(line []byte, r *request) error {
	var m object
	if err := utiljson.Unmarshal(line, &m); err != nil {
		return err
	}
	r.ID = m["id"]
	r.Op, _ = m["op"].(string)
	r.Via, _ = m["via"].(string)
	r.YAML, _ = m["yaml"].(string)
	r.OldY, _ = m["oldYaml"].(string)
	r.Object, _ = m["object"].(object)
	r.Old, _ = m["old"].(object)
	if files, ok := m["files"].(object); ok {
		r.Files = map[string]string{}
		for name, text := range files {
			r.Files[name], _ = text.(string)
		}
	}
	if qs, ok := m["queues"].([]interface{}); ok {
		r.Queues = []object{}
		for _, q := range qs {
			if qm, ok := q.(object); ok {
				r.Queues = append(r.Queues, qm)
			}
		}
	}
	return nil
}

func readFile(name string) ([]object, error) {
	var rd io.Reader = os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		rd = f
	}
	return readObjects(rd)
}

func readObjects(rd io.Reader) ([]object, error) {
	var out []object
	yr := utilyaml.NewYAMLReader(bufio.NewReader(rd))
	for {
		doc, err := yr.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		js, err := yaml.YAMLToJSONStrict(doc)
		if err != nil {
			return nil, err
		}
		var v interface{}
		if err := utiljson.Unmarshal(js, &v); err != nil {
			return nil, err
		}
		out = append(out, flatten(v)...)
	}
}

func flatten(v interface{}) []object {
	switch t := v.(type) {
	case []interface{}:
		var out []object
		for _, x := range t {
			out = append(out, flatten(x)...)
		}
		return out
	case object:
		k, _ := t["kind"].(string)
		if items, ok := t["items"].([]interface{}); ok && strings.HasSuffix(k, "List") {
			return flatten(items)
		}
		return []object{t}
	}
	return nil
}

// NameOf gives metadata.name and metadata.namespace.
func NameOf(m object) (name, ns string) {
	md, _ := m["metadata"].(object)
	name, _ = md["name"].(string)
	ns, _ = md["namespace"].(string)
	return
}

// read says what sigs.k8s.io/yaml, with which kubectl and the GitOps controllers
// read manifests, makes of a YAML document.
func read(r request) answer {
	a := answer{ID: r.ID, Op: r.Op, Pruned: []string{}, Drift: []string{}}
	js, err := yaml.YAMLToJSONStrict([]byte(r.YAML))
	if err == nil {
		err = utiljson.Unmarshal(js, &a.Value)
	}
	settle(&a, "read", "", err)
	return a
}

func (o *oracle) do(r request) answer {
	switch r.Op {
	case "read":
		return read(r)
	case "kustomize":
		return kustomize(r)
	}
	var err error
	one := func(s string) object {
		objs, e := readObjects(strings.NewReader(s))
		if e != nil || len(objs) != 1 {
			err = fmt.Errorf("want one object, have %d: %v", len(objs), e)
			return nil
		}
		return objs[0]
	}
	if r.YAML != "" {
		r.Object = one(r.YAML)
	}
	if r.OldY != "" {
		r.Old = one(r.OldY)
	}
	if r.Op == "" {
		r.Op = "create"
	}
	a := answer{ID: r.ID, Op: r.Op, Pruned: []string{}, Drift: []string{}}
	if err != nil {
		a.Stage, a.Message = "request", err.Error()
		return a
	}
	ident := r.Object
	if ident == nil {
		ident = r.Old
	}
	a.Kind, _ = ident["kind"].(string)
	a.Name, a.Namespace = NameOf(ident)
	if r.Queues != nil {
		if err := o.hooks.SetQueues(r.Queues); err != nil {
			a.Stage, a.Message = "request", err.Error()
			return a
		}
		defer func() { _ = o.hooks.SetQueues(o.defaultQ) }()
	}
	av, _ := ident["apiVersion"].(string)
	gvk := schema.FromAPIVersionAndKind(av, a.Kind)
	if o.builtIns.Knows(gvk) {
		o.builtIn(gvk, r, &a)
		return a
	}
	c := o.crds[gvk]
	if c == nil {
		a.Allowed, a.Stage, a.Message = true, "skipped", "no CRD for "+av+" "+a.Kind
		return a
	}
	switch r.Op {
	case "create":
		o.create(c, r.Object, &a)
	case "update":
		o.update(c, r, &a)
	case "delete":
		denied, err := o.hooks.Validate(c, admissionv1.Delete, nil, ident)
		settle(&a, "validate", denied, err)
	default:
		a.Stage, a.Message = "request", "unknown op "+r.Op
	}
	if !o.withObj {
		a.Defaulted, a.Detail = nil, nil
	}
	return a
}

func settle(a *answer, stage, denied string, err error) bool {
	switch {
	case err != nil:
		a.Stage, a.Message = stage, "Internal error occurred: "+err.Error()
	case denied != "":
		a.Stage, a.Message = stage, denied
	default:
		a.Allowed = true
		return true
	}
	a.Allowed = false
	return false
}

// store takes a manifest through everything up to the strategy's validation and
// returns the object as it would be stored.
func (o *oracle) store(c *CRD, in object, a *answer) (object, bool) {
	obj := runtime.DeepCopyJSON(in)
	if md, ok := obj["metadata"].(object); ok {
		if _, ns := NameOf(obj); c.namespaced && ns == "" {
			md["namespace"] = "default"
		} else if !c.namespaced {
			delete(md, "namespace") // as the API server does, without a word
		}
	}
	pruned, err := c.coerce(obj)
	if err != nil {
		return nil, settle(a, "crd-schema", "", err)
	}
	if pruned != nil {
		a.Pruned = pruned
	}
	obj, denied, err := o.hooks.Mutate(c, admissionv1.Create, obj)
	if !settle(a, "mutate", denied, err) {
		return nil, false
	}
	if _, err := c.coerce(obj); err != nil {
		return nil, settle(a, "mutate", "", err)
	}
	if c.hasStatus {
		delete(obj, "status")
	}
	return obj, true
}

// later lists what Volcano's controllers write into the spec of a stored
// object, and writes it: a queue without a parent gets root.
func later(c *CRD, obj object) []string {
	spec, _ := obj["spec"].(object)
	if name, _ := NameOf(obj); c.GVK.Kind != "Queue" || spec == nil || name == "root" {
		return nil
	}
	if p, _ := spec["parent"].(string); p != "" {
		return nil
	}
	spec["parent"] = "root"
	return []string{"spec.parent"}
}

func (o *oracle) create(c *CRD, in object, a *answer) {
	obj, ok := o.store(c, in, a)
	if !ok {
		return
	}
	a.setResult(in, obj)
	if stage, errs := c.validate(obj, nil); len(errs) > 0 {
		settle(a, stage, joinErrs(errs), nil)
		return
	}
	denied, err := o.hooks.Validate(c, admissionv1.Create, obj, nil)
	if !settle(a, "validate", denied, err) {
		return
	}
	a.Later = later(c, obj)
	if o.track && c.GVK.Kind == "Queue" {
		_ = o.hooks.TrackQueue(obj)
	}
}

// update: OLD is taken as created before; NEW is merged onto what was stored as
// client-side apply does it (or replaces it, via put).
func (o *oracle) update(c *CRD, r request, a *answer) {
	scratch := &answer{}
	old, ok := o.store(c, r.Old, scratch)
	if !ok {
		a.Stage, a.Message = "old:"+scratch.Stage, scratch.Message
		return
	}
	later(c, old)
	for k, v := range map[string]interface{}{
		"resourceVersion": "1", "uid": "00000000-0000-4000-8000-000000000000",
		"creationTimestamp": "2026-01-01T00:00:00Z", "generation": int64(1),
	} {
		old["metadata"].(object)[k] = v
	}
	obj := runtime.DeepCopyJSON(r.Object)
	if md, ok := obj["metadata"].(object); ok && !c.namespaced {
		delete(md, "namespace")
	}
	if r.Via == "put" {
		md, _ := obj["metadata"].(object)
		for _, k := range []string{"resourceVersion", "uid", "creationTimestamp", "generation", "namespace"} {
			if v, ok := old["metadata"].(object)[k]; ok {
				md[k] = v
			}
		}
	} else {
		merged, err := threeWay(r.Old, r.Object, old)
		if err != nil {
			settle(a, "mutate", "", err)
			return
		}
		obj = merged
	}
	pruned, err := c.coerce(obj)
	if err != nil {
		settle(a, "crd-schema", "", err)
		return
	}
	if pruned != nil {
		a.Pruned = pruned
	}
	if c.hasStatus {
		delete(obj, "status")
	}
	noop := reflect.DeepEqual(obj, old)
	specDiff := !reflect.DeepEqual(withoutMeta(obj), withoutMeta(old))
	a.NoOp, a.SpecDiff = &noop, &specDiff
	a.setResult(r.Object, obj)
	obj2, denied, err := o.hooks.Mutate(c, admissionv1.Update, obj)
	if !settle(a, "mutate", denied, err) {
		return
	}
	if stage, errs := c.validate(obj2, old); len(errs) > 0 {
		settle(a, stage, joinErrs(errs), nil)
		return
	}
	denied, err = o.hooks.Validate(c, admissionv1.Update, obj2, old)
	if settle(a, "validate", denied, err) && o.track && c.GVK.Kind == "Queue" {
		_ = o.hooks.TrackQueue(obj2)
	}
}

func withoutMeta(m object) object {
	out := object{}
	for k, v := range m {
		if k != "metadata" {
			out[k] = v
		}
	}
	return out
}

func threeWay(lastApplied, want, live object) (object, error) {
	a, err := json.Marshal(lastApplied)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(want)
	if err != nil {
		return nil, err
	}
	l, err := json.Marshal(live)
	if err != nil {
		return nil, err
	}
	p, err := jsonmergepatch.CreateThreeWayJSONMergePatch(a, b, l,
		mergepatch.RequireKeyUnchanged("apiVersion"), mergepatch.RequireKeyUnchanged("kind"), mergepatch.RequireMetadataKeyUnchanged("name"))
	if err != nil {
		return nil, err
	}
	res, err := jsonpatch.MergePatch(l, p)
	if err != nil {
		return nil, err
	}
	var out object
	return out, utiljson.Unmarshal(res, &out)
}

// setResult records the resulting object and where the manifest differs.
func (a *answer) setResult(in, out object) {
	a.Defaulted = runtime.DeepCopyJSON(out)
	if md, ok := a.Defaulted["metadata"].(object); ok {
		for _, k := range []string{"resourceVersion", "uid", "creationTimestamp", "generation", "managedFields"} {
			delete(md, k)
		}
		if imd, ok := in["metadata"].(object); ok {
			if _, has := imd["namespace"]; !has {
				delete(md, "namespace")
			}
		}
	}
	diff("", in, a.Defaulted, &a.Detail)
	sort.Slice(a.Detail, func(i, j int) bool { return a.Detail[i].Path < a.Detail[j].Path })
	for _, d := range a.Detail {
		a.Drift = append(a.Drift, d.Path)
	}
}

func diff(path string, was, now interface{}, out *[]change) {
	switch w := was.(type) {
	case object:
		if n, ok := now.(object); ok {
			for k, v := range w {
				nv, has := n[k]
				if !has {
					*out = append(*out, change{Path: join(path, k), Was: v})
				} else {
					diff(join(path, k), v, nv, out)
				}
			}
			for k, v := range n {
				if _, has := w[k]; !has {
					*out = append(*out, change{Path: join(path, k), Now: v})
				}
			}
			return
		}
	case []interface{}:
		if n, ok := now.([]interface{}); ok && len(n) == len(w) {
			for i := range w {
				diff(path+"["+strconv.Itoa(i)+"]", w[i], n[i], out)
			}
			return
		}
	}
	if !reflect.DeepEqual(was, now) {
		*out = append(*out, change{Path: path, Was: was, Now: now})
	}
}

func join(p, k string) string {
	if strings.ContainsAny(k, "./[]") {
		return p + `["` + k + `"]`
	}
	if p == "" {
		return k
	}
	return p + "." + k
}

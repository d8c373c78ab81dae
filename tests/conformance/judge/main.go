// The judge: kube-scheduler's own plugin code, asked about clusters read as JSON lines.
//
// In:  {"id": 1, "items": [Node, Pod, …], "config": KubeSchedulerConfiguration (optional)}, one per line.
// Out: {"id": 1, "decisions": [{"pod", "feasible", "rejected", "scores", "candidates", …}]}, one per line, in order.
// Every pod without a node is judged by itself on the same snapshot.
// In:  {"podSpecFields": true}. Out: {"podSpecFields": ["volumes", …]}, which documentation is held against.
// In:  {"id": 1, "describe": "text of a KubeSchedulerConfiguration"}. Out: {"id": 1, "configuration": what it comes to}.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"k8s.io/klog/v2"
)

type job struct {
	line   []byte
	answer chan []byte
}

func main() {
	workers := flag.Int("workers", runtime.NumCPU(), "cases judged side by side")
	klog.InitFlags(nil)
	flag.Set("logtostderr", "false")
	flag.Set("stderrthreshold", "FATAL")
	flag.Parse()
	klog.SetOutput(io.Discard)

	jobs := make(chan job)
	order := make(chan chan []byte, 256)
	for range *workers {
		go func() {
			bench := newBench()
			for j := range jobs {
				j.answer <- bench.answer(j.line)
			}
		}()
	}
	go func() {
		in := bufio.NewScanner(os.Stdin)
		in.Buffer(make([]byte, 1<<20), 1<<28)
		for in.Scan() {
			answer := make(chan []byte, 1)
			order <- answer
			jobs <- job{append([]byte(nil), in.Bytes()...), answer}
		}
		close(order)
	}()
	out := bufio.NewWriter(os.Stdout)
	for answer := range order {
		out.Write(<-answer)
		out.WriteByte('\n')
		if len(order) == 0 {
			out.Flush()
		}
	}
	out.Flush()
}

func (b *bench) answer(line []byte) []byte {
	var request struct {
		ID     json.RawMessage   `json:"id"`
		Items  []json.RawMessage `json:"items"`
		Config json.RawMessage   `json:"config"`
		Text   *string           `json:"describe"`
		Fields bool              `json:"podSpecFields"`
	}
	reply := map[string]any{}
	err := json.Unmarshal(line, &request)
	if err == nil {
		reply["id"] = request.ID
		if request.Fields {
			reply["podSpecFields"] = podSpecFields()
		} else if request.Text != nil {
			reply["configuration"], err = b.describe(*request.Text)
		} else {
			reply["decisions"], err = b.judge(request.Items, request.Config)
		}
	}
	if err != nil {
		reply["error"] = fmt.Sprint(err)
	}
	text, err := json.Marshal(reply)
	if err != nil {
		panic(err)
	}
	return text
}

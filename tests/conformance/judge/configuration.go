package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	plfeature "k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/imagelocality"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodedeclaredfeatures"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodename"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/schedulinggates"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
	fwkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// registry is the default profile's plugins but for DynamicResources, which this project refuses to guess about.
func registry() fwkruntime.Registry {
	fts := plfeature.NewSchedulerFeaturesFromGates(feature.DefaultFeatureGate)
	return fwkruntime.Registry{
		queuesort.Name:                       queuesort.New,
		schedulinggates.Name:                 fwkruntime.FactoryAdapter(fts, schedulinggates.New),
		nodeunschedulable.Name:               fwkruntime.FactoryAdapter(fts, nodeunschedulable.New),
		nodename.Name:                        fwkruntime.FactoryAdapter(fts, nodename.New),
		tainttoleration.Name:                 fwkruntime.FactoryAdapter(fts, tainttoleration.New),
		nodeaffinity.Name:                    fwkruntime.FactoryAdapter(fts, nodeaffinity.New),
		nodeports.Name:                       fwkruntime.FactoryAdapter(fts, nodeports.New),
		noderesources.Name:                   fwkruntime.FactoryAdapter(fts, noderesources.NewFit),
		noderesources.BalancedAllocationName: fwkruntime.FactoryAdapter(fts, noderesources.NewBalancedAllocation),
		volumerestrictions.Name:              fwkruntime.FactoryAdapter(fts, volumerestrictions.New),
		nodevolumelimits.CSIName:             fwkruntime.FactoryAdapter(fts, nodevolumelimits.NewCSI),
		volumebinding.Name:                   fwkruntime.FactoryAdapter(fts, volumebinding.New),
		volumezone.Name:                      fwkruntime.FactoryAdapter(fts, volumezone.New),
		podtopologyspread.Name:               fwkruntime.FactoryAdapter(fts, podtopologyspread.New),
		interpodaffinity.Name:                fwkruntime.FactoryAdapter(fts, interpodaffinity.New),
		defaultpreemption.Name:               fwkruntime.FactoryAdapter(fts, defaultpreemption.New),
		imagelocality.Name:                   imagelocality.New,
		nodedeclaredfeatures.Name:            fwkruntime.FactoryAdapter(fts, nodedeclaredfeatures.New),
		defaultbinder.Name:                   defaultbinder.New,
	}
}

// loadConfiguration reads, completes and validates as `kube-scheduler --config` does; nothing gives the default.
func loadConfiguration(text []byte) (*config.KubeSchedulerConfiguration, error) {
	if len(text) == 0 {
		return latest.Default()
	}
	object, gvk, err := configscheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	configuration, right := object.(*config.KubeSchedulerConfiguration)
	if !right {
		return nil, fmt.Errorf("couldn't decode as KubeSchedulerConfiguration, got %s", gvk)
	}
	configuration.APIVersion = gvk.GroupVersion().String()
	if problems := validation.ValidateKubeSchedulerConfiguration(configuration); problems != nil {
		return nil, problems
	}
	return configuration, nil
}

func without(set *config.PluginSet, name string) {
	var kept []config.Plugin
	for _, plugin := range set.Enabled {
		if plugin.Name != name {
			kept = append(kept, plugin)
		}
	}
	set.Enabled = kept
}

// schedulesFor makes the configuration's profiles, by their names, without DynamicResources.
func (b *bench) schedulesFor(text json.RawMessage) (map[string]*schedule, error) {
	if known := b.schedules[string(text)]; known != nil {
		return known, nil
	}
	configuration, err := loadConfiguration(text)
	if err != nil {
		return nil, err
	}
	made := map[string]*schedule{}
	for i := range configuration.Profiles {
		profile := configuration.Profiles[i]
		if made[profile.SchedulerName], err = b.newSchedule(&profile); err != nil {
			return nil, err
		}
	}
	b.schedules[string(text)] = made
	return made, nil
}

func (b *bench) newSchedule(profile *config.KubeSchedulerProfile) (*schedule, error) {
	for _, set := range []*config.PluginSet{&profile.Plugins.MultiPoint, &profile.Plugins.PreEnqueue, &profile.Plugins.PreFilter,
		&profile.Plugins.Filter, &profile.Plugins.PostFilter, &profile.Plugins.Score, &profile.Plugins.Reserve, &profile.Plugins.PreBind} {
		without(set, "DynamicResources")
	}
	made := &schedule{weights: map[string]int64{}}
	plugins := registry()
	newPreemption := plugins[defaultpreemption.Name]
	plugins[defaultpreemption.Name] = func(ctx context.Context, args apiruntime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		plugin, err := newPreemption(ctx, args, handle)
		made.preemption, _ = plugin.(*defaultpreemption.DefaultPreemption)
		return plugin, err
	}
	var err error
	made.framework, err = fwkruntime.NewFramework(b.ctx, plugins, profile,
		fwkruntime.WithInformerFactory(b.factory),
		fwkruntime.WithSnapshotSharedLister(b),
		fwkruntime.WithPodNominator(b),
		fwkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(b.factory.Storage().V1().CSINodes().Lister())),
		fwkruntime.WithSharedDRAManager(noDevices{}),
		fwkruntime.WithParallelism(1),
	)
	if err != nil {
		return nil, err
	}
	for _, plugin := range made.framework.ListPlugins().Score.Enabled {
		made.weights[plugin.Name] = int64(plugin.Weight)
	}
	if len(made.framework.ListPlugins().PostFilter.Enabled) == 0 {
		made.preemption = nil
	}
	return made, nil
}

// describe says what the configuration comes to: what runs at each point, with which weights and arguments.
func (b *bench) describe(text string) (description map[string]any, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("kube-scheduler's code panics: %v", bug)
		}
	}()
	configuration, err := loadConfiguration([]byte(text))
	if err != nil {
		return nil, err
	}
	var profiles []map[string]any
	for i := range configuration.Profiles {
		profile := configuration.Profiles[i]
		s, err := b.newSchedule(&profile)
		if err != nil {
			return nil, err
		}
		described := describeProfile(&profile)
		points := s.framework.ListPlugins()
		described["preFilter"] = names(points.PreFilter)
		described["filter"], described["postFilter"] = names(points.Filter), names(points.PostFilter)
		described["queueSort"], described["bind"] = names(points.QueueSort), names(points.Bind)
		weighted := [][2]any{}
		for _, plugin := range points.Score.Enabled {
			weighted = append(weighted, [2]any{plugin.Name, plugin.Weight})
		}
		described["score"] = weighted
		profiles = append(profiles, described)
	}
	election, client := configuration.LeaderElection, configuration.ClientConnection
	seconds := func(d time.Duration) float64 { return d.Seconds() }
	return map[string]any{
		"parallelism":              configuration.Parallelism,
		"percentageOfNodesToScore": configuration.PercentageOfNodesToScore,
		"backoff":                  []int64{configuration.PodInitialBackoffSeconds, configuration.PodMaxBackoffSeconds},
		"leaderElection": []any{election.LeaderElect, seconds(election.LeaseDuration.Duration), seconds(election.RenewDeadline.Duration),
			seconds(election.RetryPeriod.Duration), election.ResourceNamespace, election.ResourceName},
		"clientConnection": []any{client.Kubeconfig, client.QPS, client.Burst},
		"profiles":         profiles,
	}, nil
}

func names(set config.PluginSet) []string {
	all := []string{}
	for _, plugin := range set.Enabled {
		all = append(all, plugin.Name)
	}
	return all
}

func describeProfile(profile *config.KubeSchedulerProfile) map[string]any {
	described := map[string]any{"schedulerName": profile.SchedulerName, "percentageOfNodesToScore": profile.PercentageOfNodesToScore}
	weights := func(resources []config.ResourceSpec) [][2]any {
		all := [][2]any{}
		for _, resource := range resources {
			all = append(all, [2]any{resource.Name, resource.Weight})
		}
		return all
	}
	for _, plugin := range profile.PluginConfig {
		switch args := plugin.Args.(type) {
		case *config.NodeResourcesFitArgs:
			shape := [][2]int32{}
			if ratio := args.ScoringStrategy.RequestedToCapacityRatio; ratio != nil {
				for _, point := range ratio.Shape {
					shape = append(shape, [2]int32{point.Utilization, point.Score})
				}
			}
			described["fit"] = []any{args.ScoringStrategy.Type, weights(args.ScoringStrategy.Resources), shape,
				append([]string{}, args.IgnoredResources...), append([]string{}, args.IgnoredResourceGroups...)}
		case *config.NodeResourcesBalancedAllocationArgs:
			described["balanced"] = weights(args.Resources)
		case *config.PodTopologySpreadArgs:
			constraints := [][3]any{}
			for _, c := range args.DefaultConstraints {
				constraints = append(constraints, [3]any{c.MaxSkew, c.TopologyKey, c.WhenUnsatisfiable})
			}
			described["spread"] = []any{args.DefaultingType, constraints}
		case *config.InterPodAffinityArgs:
			described["interPod"] = []any{args.HardPodAffinityWeight, args.IgnorePreferredTermsOfExistingPods}
		case *config.DefaultPreemptionArgs:
			described["preemption"] = []int32{args.MinCandidateNodesPercentage, args.MinCandidateNodesAbsolute}
		case *config.VolumeBindingArgs:
			described["bindTimeout"] = args.BindTimeoutSeconds
		case *config.NodeAffinityArgs:
			described["addedAffinity"] = args.AddedAffinity != nil
		}
	}
	return described
}

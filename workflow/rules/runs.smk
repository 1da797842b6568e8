# Runs: an agent is tuned on an instance, then plays it in all its settings; one job for each (instance, track, agent).


@checked
def agent_entry(wildcards):
    STUDY.check_case(wildcards.instance, wildcards.track)
    return STUDY.agent(wildcards.instance, wildcards.agent)


@functools.cache
def known_batches(instance):
    """The batches of an instance; a dictionary, since every job looks its own up among thousands."""
    return dict.fromkeys(STUDY.batches(instance))


@checked
def checked_batch(wildcards):
    batches = known_batches(wildcards.instance)
    if wildcards.batch not in batches:
        raise unknown("batch of seeds", wildcards.batch, batches)
    return wildcards.batch


def played_code(*modules):
    """Hash of some modules and of the code of the wildcards' instance and agent."""

    def found(wildcards):
        entry, instance = agent_entry(wildcards), instance_entry(wildcards)
        parameters = agents.parameters(entry["algorithm"], entry["set"])
        return code_hash(
            *modules,
            *instances.modules(instance["family"], instance["set"]),
            *agents.modules(entry["algorithm"], parameters),
        )

    return found


def halving(wildcards):
    """The procedure of tuning, as words of a command line."""
    chosen = STUDY.halving(wildcards.instance)
    kept = f"--kept {' '.join(map(str, chosen.kept))}" if chosen.kept else "--kept"
    return (
        f"--configurations {chosen.configurations} "
        f"--seeds {' '.join(map(str, chosen.seeds))} {kept}"
    )


def lists(values):
    """Ranges and lists of values as words of a command line, x=[0.1,10]."""
    return " ".join(
        shlex.quote(f"{key}={json.dumps(value, separators=(',', ':'))}")
        for key, value in values.items()
    )


@checked
def tuned_ranges(wildcards):
    entry = agent_entry(wildcards)
    if "tune" not in entry:
        raise InputError(
            f"agent '{wildcards.agent}' is not tuned: give agents.{wildcards.agent}.tune ranges"
        )
    return lists(entry["tune"])


# What tuning and runs have in common.
PLAY = dict(
    algorithm=lambda wildcards: agent_entry(wildcards)["algorithm"],
    set=lambda wildcards: settings(agent_entry(wildcards)["set"]),
    episodes=lambda wildcards: STUDY["study"][wildcards.instance]["episodes"],
    root_seed=STUDY["root_seed"],
    ties=STUDY["ties"],
    lockstep=untracked(lambda wildcards: STUDY["jobs"]["lockstep"]),
)
PLAY_WORDS = (
    " --agent {params.algorithm} --set {params.set} --track {wildcards.track} --episodes {params.episodes}"
    " --root-seed {params.root_seed} --ties {params.ties} --lockstep {params.lockstep} --threads {threads} --quiet"
)


rule tune:
    input:
        LAYOUT.instance(),
    output:
        LAYOUT.tuned(),
    log:
        LAYOUT.log("tuning/{instance}/{track}/{agent}"),
    group:
        "tunings"
    conda:
        ENVIRONMENT
    threads: STUDY["jobs"]["threads"]
    resources:
        **RESOURCES,
    params:
        **PLAY,
        tune=tuned_ranges,
        halving=halving,
        code=played_code("befrl.experiment.tuning"),
    shell:
        "python -m befrl tune --instance {input:q} --tune {params.tune} {params.halving}"
        + PLAY_WORDS
        + " --out {output:q} > {log:q} 2>&1"


def tuned_input(wildcards):
    return LAYOUT.tuned() if "tune" in agent_entry(wildcards) else []


rule run:
    input:
        instance=LAYOUT.instance(),
        tuned=tuned_input,
    output:
        LAYOUT.run(),
    log:
        LAYOUT.log("runs/{instance}/{track}/{agent}/{batch}"),
    # Long runs start first, so that no core waits for them in the end.
    priority: 1
    group:
        "runs"
    conda:
        ENVIRONMENT
    threads: STUDY["jobs"]["threads"]
    resources:
        **RESOURCES,
    params:
        **PLAY,
        tuned=lambda wildcards, input: (
            f"--tuned {shlex.quote(str(input.tuned))}" if input.tuned else ""
        ),
        sweep=lambda wildcards: lists(agent_entry(wildcards).get("sweep", {})),
        seeds=checked_batch,
        code=played_code("befrl.experiment.runs", "befrl.experiment.settings"),
    shell:
        "python -m befrl run --instance {input.instance:q} {params.tuned} --sweep {params.sweep}"
        " --label {wildcards.agent:q} --seeds {params.seeds}"
        + PLAY_WORDS
        + " --out {output:q} > {log:q} 2>&1"

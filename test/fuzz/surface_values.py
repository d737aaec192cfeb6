# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kind "surfaces" calls and with what: Python expressions, files, environment variables, command lines.

Expressions are evaluated in the namespace of `surfaces.py`: np, xetile and its modules, and the helpers defined there
(`payload`, `spv`, `cpu_kernel`, `layout_of`, ...). A parameter's first values are right ones.
"""

from __future__ import annotations


def _words(text: str) -> list[str]:
    return text.split()


# Values of wrong types, or of right types and out of range; any parameter may get any of them.
WRONG = _words("""
None True False -1 0 1 2 3 17 2**31-1 2**31 2**32 2**63-1 2**63 -2**63 2**70 1.5 -0.0 float("nan") float("inf") 1j
"" "x" "\\0" "\\udcff" "a\\nb" "nosuch" "pvc" "cpu" "é" "-1" "x"*5000 "%s" "{}" b"" b"x" b"\\xff" bytearray(4)
[] () {} set() [1] (1,) (1,2) [1,2] (1,2,3) (0,0) (-1,8) (2**31,2**31) ("a","b") (1.5,2) (None,None) ((1,2),(3,4)) [[]]
{"a":1} {1:2} {None:None} {"target":"pvc"} {"threads":2} {"MBlock":-1} {"MBlock":"x"} {"pack":3} {"k_step":"x"}
object() (lambda*a:None) (lambda:1/0) len int type ... NotImplemented range(3) iter([1,2]) (i<3for(i)in(1,2)) slice(3)
np.int64(3) np.int8(-1) np.uint64(2**64-1) np.float32(2) np.bool_(True) np.str_("f16") np.array(1) np.array([8,16])
np.array([1.5,2]) np.zeros((2,2)) np.dtype("f2") np.float16 np.array("x") Path("nosuch") Path(".") Path("good.mlir")
Path("empty.mlir") "." "good.mlir" "dir.mlir" "empty.mlir" "text.mlir" "latin1.mlir" "nul.mlir" "truncated.mlirbc"
"loop.mlir" "good.spv" "truncated.spv" "two.mlir" "memref.mlir" "nofunc.mlir" xetile xetile.XeTileError payload()
payload().operation payload().body memory() schedule() Target("pvc") dpas() layout_of("A") Decimal("3") Fraction(1,2)
ir.Context() ir.Location spv() ["pvc"] ["pvc",3] [["pvc"]] "f16" "bf16" "i8" memoryview(b"ab") Odd() OddStr("pvc")
""")

_MODULES = ["payload()", '"good.mlir"', 'Path("good.mlir")', "payload('bf16')", "add()", "dynamic()"]
_SHAPES = ["(256,32)", "(32,256)", "[8,16]", "(16,16)", "(64,64)", "(7,5)", "(256,256)"]
_TYPES = ['"f16"', '"bf16"', '"f32"', '"i8"', '"tf32"', '"i4"', "16", "8"]
_DPAS = [
    "None",
    "dpas()",
    "layout.Dpas(subgroups=(2,2))",
    "layout.Dpas(repeat_count=4)",
    "layout.Dpas(rep_cluster=(4,2))",
]
_SIZES = ["16", "64", "32", "256", "8", "100", "1"]
_SPIRV = ["spv()", '"good.spv"', 'Path("good.spv")']
_LAYOUTS = ['layout_of("A")', 'layout_of("B")', 'layout_of("C")']
_SMALL = '{"workgroup_m":16,"workgroup_n":32,"subgroups_m":2,"subgroups_n":2,"k_step":16}'

# Call -> how often, its parameters and right values for each. A name with * takes keywords of any name.
CALLS: dict[str, tuple[int, dict[str, list[str]]]] = {
    "xetile.compile": (
        6,
        {
            "module_or_path": ["small()", '"small.mlir"', "small()", "payload()"],
            "schedule": ["None", '"matmul"', "schedule()", '"cpu_matmul"'],
            "target": ['"pvc"', "None", '"bmg"', 'Target("lnl")', '"cpu"'],
            "params": [_SMALL, _SMALL, "{}"],
            "on_stage": ["None", "lambda stage: None"],
            "*native": ['"off"', '"off"', '"off"', '"auto"'],
            "*native_chips": ["None", '["pvc"]'],
            "*large_registers": ["None", "True"],
            "*threads": ["2", "None"],
        },
    ),
    "drain(compiler.lower": (
        2,
        {
            "module_or_path": ["small()"],
            "schedule": ["None"],
            "target": ['"pvc"'],
            "params": [_SMALL],
            "*native": ['"off"'],
        },
    ),
    "compiler.read_payload": (3, {"path": ['"good.mlir"', 'Path("good.mlir")']}),
    "cpu.compile": (
        6,
        {
            "module_or_path": _MODULES,
            "config": ["None", '{"MBlock":16}', "cpu.MatmulConfig(MThreads=2)"],
            "threads": ["None", "1", "2"],
            "pack": ['"auto"', '"always"', '"never"'],
            "fuse": ["True", "False"],
            "schedule": ["None", "None", 'schedules.load("cpu_matmul")'],
        },
    ),
    "cpu.explain": (2, {"module_or_path": _MODULES, "config": ["None", "{}"], "threads": ["None", "1"]}),
    "cpu.MatmulConfig.from_json": (2, {"text": ["'{}'", "'{\"MBlock\":3}'", '"[1]"', '"null"', "'{\"MBlock\":1e3}'"]}),
    "cpu.MatmulConfig.of": (2, {"values": ["None", "{}", '{"MBlock":8}']}),
    "cpu.MatmulConfig(MBlock=8).to_json": (1, {}),
    "schedules.load": (4, {"name_or_path": ['"matmul"', '"cpu_matmul"', '"schedule.mlir"', 'Path("schedule.mlir")']}),
    "schedules.available": (1, {}),
    "schedules.matmul": (
        4,
        {
            "workgroup_tile": ["(128,256)", "(256,256)", "[16,32]"],
            "subgroup_layout": ["(4,4)", "(2,2)"],
            "k_step": ["32", "16"],
            "prefetch": ["3", "0"],
            "target": ['"pvc"', '"bmg"'],
        },
    ),
    "schedule().with_params": (3, {"*k_step": ["16"], "*target": ['"pvc"'], "*workgroup_m": ["64"], "*nosuch": ["1"]}),
    "build(schedule().extend": (3, {"step": ["step", "step_that_returns"]}),
    "schedule().build": (2, {"context": ["None", "ir.Context()"]}),
    "schedule().apply": (3, {"payload": ["payload()", "add()"]}),
    "schedules.Schedule": (1, {"name": ['"x"'], "params": ["{}"], "_build": ["schedule()._build"]}),
    "schedule().params['k_step'].with_value": (2, {"value": ["16"]}),
    "layout.element_bits": (2, {"type_": _TYPES}),
    "layout.Dpas.of": (
        2,
        {"type_": _TYPES, "*subgroups": ["(8,4)"], "*rep_cluster": ["(4,2)"], "*repeat_count": ["8"]},
    ),
    "layout.plan": (
        8,
        {
            "operand": ['"A"', '"B"', '"C"'],
            "shape": _SHAPES,
            "type_": _TYPES,
            "dpas": _DPAS,
            "target": ['"pvc"', '"bmg"'],
            "contiguous_dim": ["1", "0"],
            "one_matrix": ["False", "True"],
            "access": ['"load"', '"store"', '"prefetch"'],
            "surface": ["None", "layout.Surface(base_align=64,width=512,height=32,pitch=512,x_multiple=16)"],
        },
    ),
    "str(layout.Surface": (
        1,
        {name: ["None", "64"] for name in ("base_align", "width", "height", "pitch", "x_multiple")},
    ),
    "layout.dpas_layout": (4, {"operand": ['"A"', '"B"', '"C"'], "shape": _SHAPES, "type_": _TYPES, "dpas": _DPAS}),
    "layout.lane_layout": (3, {"operand": ['"A"', '"B"'], "type_": _TYPES, "subgroup_size": ["16", "8"]}),
    "layout.linear_layout": (
        4,
        {
            "inputs": ['{"lane":[(0,1),(0,2)]}', '{"a":[(1,)]}', "{}", '{"a":[]}', '{"a":[(1,2,3)]}', '{"a":[("x",)]}'],
            "outputs": ['{"row":1,"col":4}', '{"x":2}', "{}", '{"row":3,"col":4}', '{"row":2**31,"col":2**31}'],
            "surjective": ["True", "False"],
        },
    ),
    "layout.apply": (2, {"layout": _LAYOUTS, "*register": ["3"], "*lane": ["5"], "*subgroup": ["0"], "*x": ["0"]}),
    "layout.hardware_view": (2, {"layout": _LAYOUTS, "subgroup": ["None", "0"]}),
    "layout.tensor_view": (1, {"layout": _LAYOUTS}),
    "layout.wg_map_owners": (4, {"shape": ["(128,128)", *_SHAPES], "sg_layout": ["(2,2)"], "sg_data": ["(32,64)"]}),
    "layout.LaneLayout((1,16),(2,1)).linear_layout": (2, {"shape": ["(16,16)", "(8,16)"]}),
    "layout.LaneLayout": (1, {"lane_layout": ["(1,16)"], "lane_data": ["(1,1)"]}),
    "layout.LaneLayout.from_linear_layout": (2, {"layout": _LAYOUTS, "packed": ["1", "2"]}),
    "plan().subgroup_origin": (2, {"subgroup": ["0", "3"]}),
    "plan().blocks": (2, {"message": ["0"], "subgroup": ["0"]}),
    "plan().prove": (3, {"height": ["32"], "width": ["256"], "y": ["0"], "x": ["0", "7"], "subgroup": ["0"]}),
    "xetile.matmul": (
        5,
        {
            "m": _SIZES,
            "n": _SIZES,
            "k": _SIZES,
            "dtype": ['"f16"', '"bf16"', "np.float16", '"i8"'],
            "acc_dtype": ['"f32"', '"i32"', "np.float32"],
            "accumulate": ["True", "False"],
            "context": ["None", "ir.Context()"],
        },
    ),
    "passes.run": (
        6,
        {
            "module": ["payload()", "add()", "payload().operation", "memory()"],
            "pipeline": ['"canonicalize"', '"deep-tile-matmul"', '"builtin.module(cse)"', '"xetile-infer-wg-map"', '""']
            + [
                '"nosuch"',
                '"builtin.module("',
                '"any(cse)"',
                '"func.func(cse)"',
                '"canonicalize{x=1}"',
                '"a b"',
                '"\\0"',
            ]
            + [
                '"deep-tile-matmul{threads=-1}"',
                '"deep-tile-matmul{config={}"',
                '")"',
                '"cse)),("',
                '"gpu.module(cse)"',
            ],
            "action": ["None", '"try"'],
        },
    ),
    "report.statistics": (
        1,
        {"spirv": _SPIRV, "chip": ['"pvc"', '"bmg"'], "large_registers": ["None", "False", "True"]},
    ),
    "report.format_table": (1, {"kernels": ["[]"]}),
    "runtime.generate_builtins": (4, {"spirv": ["spv()"], "lockstep": ["True", "False"]}),
    "runtime.devices": (1, {}),
    "runtime.selected_device": (1, {}),
    "runtime.stats": (1, {}),
    "runtime.describe_drivers": (1, {}),
    "Target": (3, {"name": ['"pvc"', '"bmg"', '"lnl"', '"cpu"']}),
    "reference.evaluate": (2, {"module": ["payload()", "add()"], "arrays": ["arrays(payload())", "[]"]}),
    "reference.count_flops": (1, {"module": ["payload()"]}),
    "xetile.load": (2, {"path": ["saved()", "saved(cut=True)", 'Path("good.spv")', '"small.mlir"']}),
    "cpu_kernel().save": (1, {"path": ['"out.so"', 'Path("sub/out.so")']}),
    "gpu_kernel().save": (1, {"path": ['"out.so"', 'Path("sub/out.so")']}),
    "gpu_kernel().explain": (1, {}),
    "cpu_kernel().report": (1, {}),
    "cpu_kernel().write_shared_object": (1, {"path": ['"out.so"', 'Path("sub/out.so")']}),
    "gpu_kernel().stages.write": (1, {"directory": ['"stages"']}),
    "layout_draw.draw_wg_map": (
        1,
        {"shape": ["(32,32)"], "sg_layout": ["(2,2)"], "sg_data": ["(16,16)"], "path": ['"a.svg"'], "title": ['"t"']},
    ),
}

# Arrays that are equal to `plain`, a C-contiguous array of the right type and shape: such calls give its result.
LIKE = _words("""
plain plain.copy(order="F") plain[::-1].copy()[::-1] np.flip(np.flip(plain).copy()) read_only(plain) subclass(plain)
big_endian(plain) unaligned(plain) plain.view(np.ndarray) np.repeat(plain,2,axis=-1)[...,::2] np.asfortranarray(plain)
plain.byteswap().view(plain.dtype.newbyteorder()) memmap(plain) np.lib.stride_tricks.as_strided(plain)
""")
# Arrays and others that do not fit, or that would lose something.
UNLIKE = _words("""
np.ma.array(plain,mask=True) np.ma.array(plain) plain.astype(object) plain.astype("f8") plain.astype("i4") plain.T
plain.astype("U8") plain[:1] plain[:0] plain[...,:-1] plain.ravel() plain[None] plain.tolist() plain.tobytes()
memoryview(plain) np.broadcast_to(np.zeros((),plain.dtype),(2**31,2**31)) np.broadcast_to(plain[:1,:1],plain.shape)
np.zeros(plain.shape,[("a","f4")]) np.zeros(()) np.zeros((0,0),plain.dtype) plain.astype("c8") plain.astype("M8[s]")
None 3 np.matrix(plain) np.rec.array(plain)
np.zeros(plain.shape,"V4") plain.astype(bool) plain.astype("f2") plain.astype("u1")
np.random.default_rng plain.flat Odd() [] np.full(plain.shape,np.nan,plain.dtype) np.float32(1)
np.array([plain,None],object)
""")

ENVIRONMENT = {
    "XETILE_DEVICE": ["999", "-1", "nosuch", "", "\udcff", "0", "cpu", "gpu"],
    "XETILE_OCLOC": ["nosuch", ".", "empty.mlir", "", "\udcff", "/bin/false", "./relative"],
    "XETILE_CACHE": ["nosuch/deep", "empty.mlir", "", "\udcff", "fifo", "dir.mlir", "empty.mlir/x"],
    "XDG_CACHE_HOME": ["empty.mlir", "", "nosuch"],
    "XETILE_LIBOMP": ["empty.mlir", ".", "nosuch", "good.mlir", ""],
    "XETILE_OPENCL_RT": [".", "empty.mlir", "nosuch"],
    "XETILE_CPU": ["x86", "nosuch", ""],
    "OMP_NUM_THREADS": ["0", "-1", "x", "3"],
    "TMPDIR": ["nosuch", "empty.mlir"],
    "HOME": ["", "nosuch", "empty.mlir"],
    "PATH": ["", "nosuch", "."],
    "LC_ALL": ["C", "nosuch", "POSIX"],
}

_INPUTS = [
    "good.mlir",
    "good.mlir",
    "small.mlir",
    "add.mlir",
    "dynamic.mlir",
    "empty.mlir",
    "dir.mlir",
    "text.mlir",
    "loop.mlir",
]
_INPUTS += [
    "latin1.mlir",
    "nul.mlir",
    "truncated.mlirbc",
    "good.mlirbc",
    "nosuch.mlir",
    "",
    "-",
    "good.spv",
    "memref.mlir",
]
_INPUTS += ["nofunc.mlir", "two.mlir", "\udcff.mlir", "a b.mlir", "é.mlir", "@good.mlir", "."]
_OUTPUTS = [
    "out.so",
    "out.spv",
    "out.mlir",
    "-",
    "nosuch/out.so",
    "dir.mlir",
    "",
    "@resp",
    "a b.so",
    "\udcff.so",
    "full",
    "-x",
]
_OUTPUTS += ["é.so", ".", "out", "good.mlir", "%s.so", "a'b$(x).so"]
_NUMBERS = ["1", "2", "0", "-1", "3", "16", "x", "", "1.5", "99999999999999999999", "1e3", " 1", "0x10", "nan", "²"]
_SETS = ["k_step=16", "workgroup_m=16", "workgroup_n=32", "subgroups_m=2", "subgroups_n=2", "prefetch=0", "threads=1"]
_SETS += ["k_step=", "=1", "k_step", "nosuch=1", "target=pvc", "k_step=x", "k_step=-1", "k_step=99999999999999999999"]
_SETS += ["MBlock=16", "MBlock=-1", "pack=never", "pack=x", "fuse=0", "threads=0", "threads=-1", "k_step=16=16", "é=1"]
_PAYLOAD = {
    "--schedule": [
        "matmul",
        "cpu_matmul",
        "nosuch",
        "schedule.mlir",
        "good.mlir",
        "dir.mlir",
        "empty.mlir",
        "",
        "\udcff",
    ],
    "--target": ["pvc", "bmg", "cpu", "cpu", "cpu", "nosuch", "", "sm_90a"],
    "--set": _SETS,
    "--dump-stages": ["stages", "empty.mlir", "good.mlir/x", "", "full"],
}
# Command -> options and their values; None takes no value; a name without dashes is an operand.
COMMANDS: dict[str, tuple[int, dict[str, list[str] | None]]] = {
    "compile": (
        5,
        {"IN": _INPUTS, **_PAYLOAD, "-o": _OUTPUTS, "--emit": ["spirv", "xegpu", "llvm", "native", "x", "xetile"]},
    ),
    "run": (
        4,
        {"IN": _INPUTS, **_PAYLOAD, "--check": None, "--seed": _NUMBERS, "--repeat": ["1", "2", "0", "-1", "x"]},
    ),
    "explain": (2, {"IN": _INPUTS, "--set": _SETS}),
    "report": (
        1,
        {
            "IN": ["good.spv", "truncated.spv", "good.mlir", "dir.mlir", "nosuch", "empty.mlir"],
            "--device": ["pvc", "bmg", "nosuch", "", "cpu"],
            "--large-registers": None,
            "--no-large-registers": None,
        },
    ),
    "schedules": (
        2,
        {"IN": ["matmul", "cpu_matmul", "schedule.mlir", "good.mlir", "nosuch", "", "dir.mlir", "\udcff"]},
    ),
    "layout": (
        5,
        {
            "--dpas": ["A", "B", "C", "D"],
            "--shape": ["256x32", "32x256", "8x16", "0x0", "7x5", "1x1", "x", "-1x2", "128x128", "65536x8", "²x2"],
            "--type": ["f16", "bf16", "i8", "f32", "i4", "x", ""],
            "--subgroups": ["1x1", "8x4", "2x2", "0x1", "999999999x1"],
            "--rep-cluster": ["1x1", "4x2", "0x0", "999999999x2"],
            "--repeat-count": ["8", "1", "0", "-1", "x", "4294967296"],
            "--inputs": ["f16", "i8", "x"],
            "--sg-data": ["32x128", "16x16", "0x0", "3x3"],
            "--order": ["1,0", "0,1", "1,1"],
            "--access": ["load", "store", "x"],
            "--one-matrix": None,
            "--target": ["pvc", "bmg", "x", "", "\udcff"],
            "--hw-view": None,
            "--subgroup": ["0", "1", "-1", "99", "x", "99999999999"],
            "--plan": None,
            "--json": None,
            "--svg": ["a.svg", "nosuch/a.svg", "a.png", "dir.mlir", "full"],
        },
    ),
    "doctor": (1, {}),
    "nosuch": (1, {}),
    "": (1, {"--help": None, "--version": None}),
}

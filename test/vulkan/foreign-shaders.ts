/**
 * The seeds' catalogue as a stranger would write it, in GLSL and HLSL: bindings inputs first and output last, sizes in the
 * push block, the op code as specialisation constant 0. Nothing here knows of Pumice.
 */
import type { FloatType } from "../support/floats.js";

/** GLSL has exp, log, pow and tanh for floats only; a shader for doubles goes through them, as the seeds' do. */
const prelude = (type: FloatType, localSize: string) => `#version 450
#define real ${type === "f32" ? "float" : "double"}
layout(${localSize}) in;
`;

export const elementwiseBinary = (
  type: FloatType,
  localSize = "local_size_x = 256",
): string => `${prelude(type, localSize)}
layout(constant_id = 0) const int OP = 0;
layout(set = 0, binding = 0) readonly buffer A { real a[]; };
layout(set = 0, binding = 1) readonly buffer B { real b[]; };
layout(set = 0, binding = 2) writeonly buffer Out { real o[]; };
layout(push_constant) uniform Push { uint n; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= n) return;
  real x = a[i], y = b[i];
  switch (OP) {
    case 0: o[i] = x + y; break;
    case 1: o[i] = x * y; break;
    case 2: o[i] = x - y; break;
    case 3: o[i] = x / y; break;
    case 4: o[i] = real(pow(float(x), float(y))); break;
    case 5: o[i] = max(x, y); break;
    default: o[i] = min(x, y);
  }
}`;

export const elementwiseUnary = (
  type: FloatType,
  localSize = "local_size_x = 256",
): string => `${prelude(type, localSize)}
layout(constant_id = 0) const int OP = 0;
layout(set = 0, binding = 0) readonly buffer A { real a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { real o[]; };
layout(push_constant) uniform Push { uint n; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= n) return;
  real x = a[i];
  real r;
  if (OP == 0) r = real(exp(float(x)));
  else if (OP == 1) r = real(log(float(x)));
  else if (OP == 2) r = sqrt(x);
  else if (OP == 3) r = abs(x);
  else if (OP == 4) r = -x;
  else if (OP == 5) r = real(1.0 / (1.0 + exp(-float(x))));
  else if (OP == 6) r = real(tanh(float(x)));
  else if (OP == 7) r = max(x, real(0));
  else if (OP == 8) r = ceil(x);
  else if (OP == 9) r = floor(x);
  else if (OP == 10) r = sign(x);
  else if (OP == 11) r = real(1) / x;
  else r = x * x;
  o[i] = r;
}`;

/** One thread per output; the op code comes in the push block, since it does not select code worth a pipeline. */
export const reduceAxis = (type: FloatType): string => `${prelude(type, "local_size_x = 64")}
layout(set = 0, binding = 0) readonly buffer A { real a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { real o[]; };
layout(push_constant) uniform Push { uint outer, reduce, inner, op; };
void main() {
  uint slot = gl_GlobalInvocationID.x;
  if (slot >= outer * inner) return;
  uint base = slot / inner * reduce * inner + slot % inner;
  real total = op == 0 ? real(0) : a[base];
  for (uint r = 0; r < reduce; r++) {
    real x = a[base + r * inner];
    total = op == 0 ? total + x : op == 1 ? max(total, x) : min(total, x);
  }
  o[slot] = total;
}`;

/** 16×16 tiles through shared memory; reads outside the matrices are zeros. */
export const matmul = (type: FloatType): string => `${prelude(type, "local_size_x = 16, local_size_y = 16")}
layout(set = 0, binding = 0) readonly buffer A { real a[]; };
layout(set = 0, binding = 1) readonly buffer B { real b[]; };
layout(set = 0, binding = 2) writeonly buffer Out { real o[]; };
layout(push_constant) uniform Push { uint m, n, k; };
shared real tileA[16][16];
shared real tileB[16][16];
void main() {
  uint row = gl_GlobalInvocationID.y, column = gl_GlobalInvocationID.x;
  uint y = gl_LocalInvocationID.y, x = gl_LocalInvocationID.x;
  real total = real(0);
  for (uint k0 = 0; k0 < k; k0 += 16) {
    tileA[y][x] = row < m && k0 + x < k ? a[row * k + k0 + x] : real(0);
    tileB[y][x] = column < n && k0 + y < k ? b[(k0 + y) * n + column] : real(0);
    barrier();
    for (uint i = 0; i < 16; i++) total += tileA[y][i] * tileB[i][x];
    barrier();
  }
  if (row < m && column < n) o[row * n + column] = total;
}`;

export const transpose2d = (type: FloatType): string => `${prelude(type, "local_size_x = 16, local_size_y = 16")}
layout(set = 0, binding = 0) readonly buffer A { real a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { real o[]; };
layout(push_constant) uniform Push { uint m, n; };
void main() {
  uint row = gl_GlobalInvocationID.y, column = gl_GlobalInvocationID.x;
  if (row < m && column < n) o[column * m + row] = a[row * n + column];
}`;

/** The elementwise kernel once more, in HLSL; its buffers are BufferBlocks and its push block a ConstantBuffer. */
export const hlslBinary = `
[[vk::binding(0, 0)]] StructuredBuffer<float> a;
[[vk::binding(1, 0)]] StructuredBuffer<float> b;
[[vk::binding(2, 0)]] RWStructuredBuffer<float> o;
struct Push { uint n; };
[[vk::push_constant]] ConstantBuffer<Push> push;
[[vk::constant_id(0)]] const int op = 0;
[numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
  if (id.x >= push.n) return;
  float x = a[id.x], y = b[id.x];
  o[id.x] = op == 0 ? x + y : op == 1 ? x * y : op == 2 ? x - y : op == 5 ? max(x, y) : min(x, y);
}`;

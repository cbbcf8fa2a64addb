// CUB's time for one primitive at one size, for `peers --cub`:
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o cub cub.cu
//   ./cub reduce|scan|select LOG2_ITEMS [CALLS]
//
// Prints one line `primitive,element,items,median_ns`: the time of one call, or of CALLS calls in a row divided by their
// number. All memory, temporary storage included, is allocated before
// anything is timed; the result is verified against the host; then 1.5 s of the primitive itself warm the GPU up, and
// events around each of the iterations time it. A short kernel that only spins goes ahead of the timed iterations, so
// that all of them are queued before the first runs and no time of the host's is in the figure.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const cudaError_t status_ = (call);                                                                                \
    if (status_ != cudaSuccess) {                                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_));                 \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

namespace {

constexpr int ITERATIONS = 101;
constexpr double WARM_UP_SECONDS = 1.5;
// Longer than the host takes to queue all iterations.
constexpr unsigned long long SPIN_NS = 20'000'000;

// The same numbers as in ../src/case.rs.
std::uint32_t item(std::uint32_t i) {
  std::uint32_t x = i + 0x9e3779b9u;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

struct IsOdd {
  __host__ __device__ bool operator()(std::uint32_t x) const { return (x & 1u) != 0u; }
};

__global__ void spin(unsigned long long ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < ns);
}

enum class Primitive { reduce, scan, select };

struct Work {
  Primitive primitive;
  int items;
  std::uint32_t* input = nullptr;
  std::uint32_t* output = nullptr;
  std::int64_t* selected = nullptr;
  void* storage = nullptr;
  std::size_t storage_bytes = 0;

  // With no storage yet: asks for its size.
  void run(cudaStream_t stream) {
    switch (primitive) {
    case Primitive::reduce:
      CHECK(cub::DeviceReduce::Sum(storage, storage_bytes, input, output, items, stream));
      break;
    case Primitive::scan:
      CHECK(cub::DeviceScan::InclusiveSum(storage, storage_bytes, input, output, items, stream));
      break;
    case Primitive::select:
      CHECK(cub::DeviceSelect::If(storage, storage_bytes, input, output, selected, items, IsOdd{}, stream));
      break;
    }
  }
};

[[noreturn]] void wrong(const char* what, std::int64_t at, std::uint64_t found, std::uint64_t expected) {
  std::fprintf(stderr, "wrong result: %s %lld is %llu, not %llu\n", what, static_cast<long long>(at),
               static_cast<unsigned long long>(found), static_cast<unsigned long long>(expected));
  std::exit(1);
}

void verify(const Work& work, const std::vector<std::uint32_t>& input) {
  std::vector<std::uint32_t> output(work.primitive == Primitive::reduce ? 1 : input.size());
  CHECK(cudaMemcpy(output.data(), work.output, output.size() * sizeof(std::uint32_t), cudaMemcpyDeviceToHost));
  std::uint32_t sum = 0;
  std::int64_t kept = 0;
  for (std::size_t i = 0; i < input.size(); ++i) {
    sum += input[i];
    if (work.primitive == Primitive::scan && output[i] != sum) {
      wrong("prefix", static_cast<std::int64_t>(i), output[i], sum);
    }
    if (work.primitive == Primitive::select && IsOdd{}(input[i])) {
      if (output[static_cast<std::size_t>(kept)] != input[i]) {
        wrong("selected item", kept, output[static_cast<std::size_t>(kept)], input[i]);
      }
      ++kept;
    }
  }
  if (work.primitive == Primitive::reduce && output[0] != sum) {
    wrong("sum", 0, output[0], sum);
  }
  if (work.primitive == Primitive::select) {
    std::int64_t selected = -1;
    CHECK(cudaMemcpy(&selected, work.selected, sizeof(selected), cudaMemcpyDeviceToHost));
    if (selected != kept) {
      wrong("count", 0, static_cast<std::uint64_t>(selected), static_cast<std::uint64_t>(kept));
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  const char* usage = "usage: cub reduce|scan|select LOG2_ITEMS (0 to 30) [CALLS (1 to 1000)]\n";
  if (argc != 3 && argc != 4) {
    std::fputs(usage, stderr);
    return 2;
  }
  Work work{};
  if (std::strcmp(argv[1], "reduce") == 0) {
    work.primitive = Primitive::reduce;
  } else if (std::strcmp(argv[1], "scan") == 0) {
    work.primitive = Primitive::scan;
  } else if (std::strcmp(argv[1], "select") == 0) {
    work.primitive = Primitive::select;
  } else {
    std::fputs(usage, stderr);
    return 2;
  }
  char* end = nullptr;
  const long log2_items = std::strtol(argv[2], &end, 10);
  if (end == argv[2] || *end != '\0' || log2_items < 0 || log2_items > 30) {
    std::fputs(usage, stderr);
    return 2;
  }
  work.items = 1 << log2_items;
  const int calls = argc == 4 ? std::atoi(argv[3]) : 1;
  if (calls < 1 || calls > 1000) {
    std::fputs(usage, stderr);
    return 2;
  }

  const std::size_t bytes = static_cast<std::size_t>(work.items) * sizeof(std::uint32_t);
  std::vector<std::uint32_t> input(static_cast<std::size_t>(work.items));
  for (std::size_t i = 0; i < input.size(); ++i) {
    input[i] = item(static_cast<std::uint32_t>(i));
  }
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMalloc(&work.input, bytes));
  CHECK(cudaMalloc(&work.output, bytes));
  CHECK(cudaMalloc(&work.selected, sizeof(*work.selected)));
  CHECK(cudaMemcpy(work.input, input.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(work.output, 0xff, bytes));
  work.run(stream);
  CHECK(cudaMalloc(&work.storage, work.storage_bytes));

  work.run(stream);
  CHECK(cudaStreamSynchronize(stream));
  verify(work, input);
  CHECK(cudaMemset(work.output, 0xff, bytes));

  const auto began = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  while (elapsed() < WARM_UP_SECONDS) {
    for (int i = 0; i < 16; ++i) {
      work.run(stream);
    }
    CHECK(cudaStreamSynchronize(stream));
  }

  std::vector<cudaEvent_t> before(ITERATIONS), after(ITERATIONS);
  for (int i = 0; i < ITERATIONS; ++i) {
    CHECK(cudaEventCreate(&before[i]));
    CHECK(cudaEventCreate(&after[i]));
  }
  spin<<<1, 1, 0, stream>>>(SPIN_NS);
  CHECK(cudaGetLastError());
  for (int i = 0; i < ITERATIONS; ++i) {
    CHECK(cudaEventRecord(before[i], stream));
    for (int call = 0; call < calls; ++call) {
      work.run(stream);
    }
    CHECK(cudaEventRecord(after[i], stream));
  }
  CHECK(cudaStreamSynchronize(stream));
  std::vector<float> times_ms(ITERATIONS);
  for (int i = 0; i < ITERATIONS; ++i) {
    CHECK(cudaEventElapsedTime(&times_ms[i], before[i], after[i]));
  }
  std::sort(times_ms.begin(), times_ms.end());
  const double median_ns = 1e6 * static_cast<double>(times_ms[ITERATIONS / 2]) / calls;
  // Once more, so that what was timed is known to have been right as well.
  verify(work, input);
  std::printf("%s,u32,%lld,%.0f\n", argv[1], static_cast<long long>(work.items), median_ns);

  for (int i = 0; i < ITERATIONS; ++i) {
    CHECK(cudaEventDestroy(before[i]));
    CHECK(cudaEventDestroy(after[i]));
  }
  CHECK(cudaFree(work.storage));
  CHECK(cudaFree(work.selected));
  CHECK(cudaFree(work.output));
  CHECK(cudaFree(work.input));
  CHECK(cudaStreamDestroy(stream));
  return 0;
}

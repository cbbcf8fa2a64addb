//! What shaders of the corpus must give, computed from the definition.

/// From the buffers before, the buffers after, for subgroups of so many lanes.
type Oracle = fn(Vec<Vec<u32>>, u32) -> Vec<Vec<u32>>;

/// By the name of the shader.
pub(crate) const ORACLES: &[(&str, Oracle)] = &[
    ("arrays_of_structs", arrays_of_structs),
    ("base64", base64),
    ("bitonic_sort", bitonic_sort),
    ("crc32", crc32),
    ("division", division),
    ("edit_distance", edit_distance),
    ("flood_fill", flood_fill),
    ("floyd_warshall", floyd_warshall),
    ("grid_2d", grid_2d),
    ("grid_3d", grid_3d),
    ("histogram", histogram),
    ("image_sums", image_sums),
    ("knapsack", knapsack),
    ("layers_and_volumes", layers_and_volumes),
    ("life", life),
    ("masked_merge", masked_merge),
    ("matrix_product", matrix_product),
    ("median", median),
    ("mixing", mixing),
    ("overrides", overrides),
    ("pointers_to_parts", pointers_to_parts),
    ("private_arrays", private_arrays),
    ("queens", queens),
    ("radix_sort", radix_sort),
    ("run_length", run_length),
    ("scan", scan),
    ("sha256", sha256),
    ("sieve", sieve),
    ("spmv_rows", spmv_rows),
    ("storage_textures", storage_textures),
    ("string_search", string_search),
    ("subgroup_width", subgroup_width),
    ("union_find", union_find),
    ("wide", wide),
    ("widening", widening),
];

fn sum(words: impl IntoIterator<Item = u32>) -> u32 {
    words.into_iter().fold(0, u32::wrapping_add)
}

fn arrays_of_structs(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    // Words of a particle: the key, a gap, two of the place, two links of two, the flag, a gap.
    let (particles, out) = (buffers[0].clone(), &mut buffers[1]);
    for first in (0..24).step_by(6) {
        let mut own: Vec<Vec<u32>> =
            (first..first + 6).map(|index: usize| particles[10 * index..][..10].to_vec()).collect();
        for (k, particle) in own.iter_mut().enumerate() {
            particle[5 + 2 * (k % 2)] = particle[4 + 2 * (1 - k % 2)].wrapping_neg();
        }
        for k in 1..6 {
            let at = own[..k].partition_point(|other| other[0] <= own[k][0]);
            own[k][8] += (k - at) as u32 * 1000;
            own[at..=k].rotate_right(1);
        }
        for (k, particle) in own.iter().enumerate() {
            let mut particle = particle.clone();
            particle[3] = particle[3].wrapping_mul(own[5 - k][5]);
            let to = &mut out[10 * (first + k)..][..10];
            for word in (0..9).filter(|word| *word != 1) {
                to[word] = particle[word];
            }
        }
    }
    buffers
}

fn base64(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = buffers[0].iter().flat_map(|word| word.to_le_bytes()).collect();
    let text: Vec<u8> = bytes
        .chunks(3)
        .flat_map(|three| {
            let bits = three.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
            [18, 12, 6, 0].map(|by| letters[bits >> by & 63])
        })
        .collect();
    buffers[1] = bytemuck::pod_collect_to_vec(&text);
    buffers[2] = buffers[0].clone();
    buffers
}

fn bitonic_sort(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    buffers[0].chunks_mut(128).for_each(<[u32]>::sort_unstable);
    buffers
}

fn crc32(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    for i in 0..8 {
        let bytes = buffers[0][12 * i..][..12].iter().flat_map(|word| word.to_le_bytes());
        let mut sum = !0_u32;
        for byte in bytes.take(buffers[1][i] as usize) {
            sum ^= u32::from(byte);
            for _ in 0..8 {
                sum = sum >> 1 ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
            }
        }
        buffers[2][i] = !sum;
    }
    assert_eq!(buffers[2][0], 0xcbf4_3926, "the check value that every description of CRC-32 gives");
    buffers
}

fn division(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    // WGSL: by zero, the dividend and no rest; the least by minus one likewise.
    let divide = |a: u32, b: u32| [a.checked_div(b).unwrap_or(a), a.checked_rem(b).unwrap_or(0)];
    let divide_signed = |a: u32, b: u32| {
        let (a, b) = (a as i32, b as i32);
        [a.checked_div(b).unwrap_or(a) as u32, a.checked_rem(b).unwrap_or(0) as u32]
    };
    let edges = buffers[0].clone();
    for (i, out) in buffers[1].chunks_mut(4).enumerate() {
        let (a, b) = (edges[i % 16], edges[i / 16]);
        let ([quotient, rest], [signed_quotient, signed_rest]) = (divide(a, b), divide_signed(a, b));
        let mut all = [quotient, rest, signed_quotient, signed_rest];
        if i % 7 == 3 {
            let more = [a / 7, a % 10, (a as i32 / -3) as u32, (a as i32 % 16) as u32];
            all = std::array::from_fn(|at| all[at].wrapping_add(more[at]));
        }
        out.copy_from_slice(&all);
    }
    buffers
}

fn edit_distance(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    for pair in 0..2 {
        let (left, right) = (&buffers[0][32 * pair..][..32], &buffers[1][32 * pair..][..32]);
        let mut row: Vec<u32> = (0..=32).collect();
        for (y, a) in (1..).zip(left) {
            let above = std::mem::replace(&mut row, vec![y]);
            for (x, b) in right.iter().enumerate() {
                row.push((above[x] + u32::from(a != b)).min(above[x + 1] + 1).min(row[x] + 1));
            }
        }
        buffers[2][pair] = row[32];
    }
    buffers
}

fn flood_fill(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let maze = buffers[0].clone();
    let reached = &mut buffers[1];
    reached[0] = 1;
    let (mut front, mut rounds) = (vec![0_usize], 0);
    loop {
        let mut next = Vec::new();
        for at in front {
            let (x, y) = (at % 16, at / 16);
            let around =
                [(x < 15, at + 1), (x > 0, at.wrapping_sub(1)), (y < 15, at + 16), (y > 0, at.wrapping_sub(16))];
            for (_, other) in around.into_iter().filter(|(inside, _)| *inside) {
                if maze[other] != 0 && reached[other] == 0 {
                    reached[other] = 1;
                    next.push(other);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        front = next;
        rounds += 1;
    }
    reached[256] = rounds;
    buffers
}

fn floyd_warshall(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let mut paths = buffers[0].iter().map(|weight| if *weight < 33 { *weight } else { 100_000 }).collect::<Vec<_>>();
    let mut through: Vec<u32> = (0..256).map(|i| i % 16).collect();
    (0..16).for_each(|node| paths[17 * node] = 0);
    for k in 0..16 {
        for at in 0..256 {
            let length = paths[at / 16 * 16 + k] + paths[16 * k + at % 16];
            if length < paths[at] {
                paths[at] = length;
                through[at] = k as u32;
            }
        }
    }
    buffers[1] = paths.into_iter().map(|length| length.min(100_000)).collect();
    buffers[2] = through;
    buffers
}

fn grid_2d(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    buffers[1] = (0..600).map(|to| buffers[0][to % 20 * 30 + to / 20]).collect();
    buffers
}

fn grid_3d(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    for (at, seen) in (0..).zip(buffers[0].chunks_mut(8)) {
        let global: [u32; 3] = [at % 10, at / 10 % 9, at / 90];
        let [local, group]: [[u32; 3]; 2] =
            [std::array::from_fn(|i| global[i] % [5, 3, 2][i]), std::array::from_fn(|i| global[i] / [5, 3, 2][i])];
        seen[..3].copy_from_slice(&global);
        seen[3] = local[0] + 5 * local[1] + 15 * local[2];
        seen[4..7].copy_from_slice(&local);
        seen[7] = group[0] + 2 * group[1] + 6 * group[2];
    }
    buffers
}

fn histogram(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    for byte in buffers[0].clone().into_iter().flat_map(u32::to_le_bytes) {
        buffers[1][usize::from(byte)] += 1;
    }
    buffers
}

fn image_sums(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let image = buffers[0].clone();
    for (at, to) in buffers[0].iter_mut().enumerate() {
        *to = (0..=at / 24).map(|y| sum(image[24 * y..=24 * y + at % 24].iter().copied())).sum();
    }
    buffers
}

fn knapsack(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let best = &mut vec![0; 128];
    for thing in buffers[0].chunks(2) {
        let (weight, value) = (thing[0] as usize + 1, thing[1]);
        for load in (weight..128).rev() {
            best[load] = best[load].max(best[load - weight] + value);
        }
    }
    buffers[1].clone_from(best);
    buffers
}

fn life(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let next = |cells: &[u32]| -> Vec<u32> {
        let around = |at: usize| {
            let (x, y) = (at % 32, at / 32);
            (0..9).filter(|i| *i != 4).map(move |i| (y + 15 + i / 3) % 16 * 32 + (x + 31 + i % 3) % 32)
        };
        (0..512)
            .map(|at| match around(at).map(|other| cells[other]).sum() {
                3 => 1,
                2 => cells[at],
                _ => 0_u32,
            })
            .collect()
    };
    buffers[1] = next(&buffers[0]);
    buffers[0] = next(&buffers[1]);
    buffers
}

fn masked_merge(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let merged = |a: &u32| {
        let b = a.wrapping_mul(747_796_405) as i32 >> 9;
        let other = b * 3 + 5;
        let mask = -823_695_862;
        if (!a).wrapping_mul(3) & 7 < 5 { other } else { (other & !mask) | (b & mask) }
    };
    buffers[1] = buffers[0].iter().flat_map(|a| [merged(a) as u32; 2]).collect();
    buffers
}

fn matrix_product(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let (left, right) = (&buffers[0], &buffers[1]);
    let product = |at: usize| (0..32).map(|k| left[at / 32 * 32 + k] * right[32 * k + at % 32]).sum::<u32>();
    buffers[2] = (0..1024).map(|at| (product(at) as f32).to_bits()).collect();
    buffers
}

fn median(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let image = buffers[0].clone();
    for at in 0..384_i32 {
        let pixel =
            |x: i32, y: i32| image[((at / 24 + y).clamp(0, 15) * 24 + (at % 24 + x).clamp(0, 23)) as usize] as i32;
        let mut all: Vec<i32> =
            (-1..=1).flat_map(|y| (-1..=1).map(move |x| (x, y))).map(|(x, y)| pixel(x, y)).collect();
        all.sort_unstable();
        let along = |p: &dyn Fn(i32, i32) -> i32| {
            [(-1, 1), (0, 2), (1, 1)]
                .into_iter()
                .map(|(across, weight)| weight * (p(1, across) - p(-1, across)))
                .sum::<i32>()
        };
        buffers[1][at as usize] = all[4] as u32;
        buffers[2][at as usize] = along(&pixel).unsigned_abs() + along(&|x, y| pixel(y, x)).unsigned_abs();
    }
    buffers
}

fn mixing(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let samples = |words: &[u32]| bytemuck::cast_slice::<u32, i16>(words).to_vec();
    let gain = |sample: i16, by: u32| (i64::from(sample) * i64::from(by)).div_euclid(4096).clamp(-32768, 32767);
    let (left, right) = (samples(&buffers[0]), samples(&buffers[1]));
    let mixed: Vec<i16> = left
        .into_iter()
        .zip(right)
        .map(|(a, b)| (gain(a, buffers[2][0]) + gain(b, buffers[2][1])).clamp(-32768, 32767) as i16)
        .collect();
    let sums: Vec<u16> = (0..16)
        .map(|sum| {
            let block = &mixed[128 * (sum / 4)..][..128];
            (sum % 4..128).step_by(4).fold(0_u16, |sum, at| {
                let odd = 2 * at as u32 + 1;
                sum.rotate_left(3).wrapping_add((block[at] as u32).wrapping_mul(odd) as u16)
            })
        })
        .collect();
    buffers[3] = bytemuck::pod_collect_to_vec(&mixed);
    buffers[4] = bytemuck::pod_collect_to_vec(&sums);
    buffers
}

fn overrides(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    // size 32, length 65, scale 2.5, from behind
    let list: Vec<i32> = (0..65).map(|i| i * 5 / 2 - 3).collect();
    buffers[0] = (0..96).map(|i| (list[64 - i % 32] * 65) as u32).collect();
    buffers
}

fn pointers_to_parts(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let seeds = buffers[0].clone();
    for i in 0..64 {
        let mut list: [u32; 4] = std::array::from_fn(|k| seeds[(i + k) % 64] >> 4);
        let place = i % 4;
        list[place] = (list[place] ^ 0xffff).wrapping_mul(3).wrapping_add(i as u32);
        let a = list[(i + 1) % 4];
        if i % 3 == 0 {
            list.reverse();
        }
        let mixed = sum(list.iter().zip([1, 3, 5, 7]).map(|(word, by)| word.wrapping_mul(by)));
        // The private variable counts from 5: 6 * 7.
        buffers[1][i] = a.wrapping_add(6 * 7) ^ mixed ^ 7;
    }
    buffers
}

fn private_arrays(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    buffers[1] = buffers[0].clone();
    buffers[1].chunks_mut(16).for_each(<[u32]>::sort_unstable);
    for (i, cycles) in buffers[2].iter_mut().enumerate() {
        let mut seen = [false; 16];
        for start in 0..16 {
            *cycles += u32::from(!seen[start]);
            let mut at = start;
            while !std::mem::replace(&mut seen[at], true) {
                at = (at * 5 + i) % 16;
            }
        }
    }
    buffers
}

fn queens(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    fn place(queens: &mut Vec<i32>, solutions: &mut [u32]) {
        if queens.len() == 8 {
            solutions[(queens[0] + 8 * queens[1]) as usize] += 1;
            return;
        }
        for column in 0..8 {
            let free =
                |(row, other): (i32, &i32)| column != *other && (column - other).abs() != queens.len() as i32 - row;
            if (0..).zip(queens.iter()).all(free) {
                queens.push(column);
                place(queens, solutions);
                queens.pop();
            }
        }
    }
    place(&mut Vec::new(), &mut buffers[0]);
    buffers[1] = vec![92];
    buffers
}

fn radix_sort(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let mut pairs: Vec<_> = buffers[0].iter().copied().zip(buffers[1].clone()).collect();
    pairs.sort_by_key(|(key, _)| *key);
    (buffers[0], buffers[1]) = pairs.into_iter().unzip();
    buffers
}

fn run_length(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let items = buffers[0].clone();
    let runs: Vec<_> = items.chunk_by(|a, b| a == b).map(|run| [run[0], run.len() as u32]).collect();
    buffers[1][..2 * runs.len()].copy_from_slice(runs.as_flattened());
    buffers[2] = vec![runs.len() as u32];
    buffers
}

fn scan(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let mut before = 0_u32;
    for at in 0..320 {
        // Tiles of 64, and what lies before each; the rest of the totals are the sum of all.
        if at % 64 == 0 {
            buffers[1][at / 64] = before;
        }
        before = before.wrapping_add(buffers[0][at]);
        buffers[0][at] = before;
    }
    buffers[1][5..].fill(before);
    buffers
}

fn sha256(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    // Of "abc" (FIPS 180-2, appendix B.1), of the empty message, and of a block of zeros without padding, twice: what the
    // compression makes of it was computed by another implementation.
    let abc = [0xba78_16bf, 0x8f01_cfea, 0x4141_40de, 0x5dae_2223, 0xb003_61a3, 0x9617_7a9c, 0xb410_ff61, 0xf200_15ad];
    let empty =
        [0xe3b0_c442, 0x98fc_1c14, 0x9afb_f4c8, 0x996f_b924, 0x27ae_41e4, 0x649b_934c, 0xa495_991b, 0x7852_b855];
    let zeros =
        [0xda56_98be, 0x17b9_b469, 0x6233_5799, 0x779f_beca, 0x8ce5_d491, 0xc0d2_6243, 0xbafe_f9ea, 0x1837_a9d8];
    buffers[1] = [abc, empty, zeros, zeros].concat();
    buffers
}

fn sieve(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    for n in (2..256_u32).filter(|n| (2..*n).all(|divisor| n % divisor != 0)) {
        let steps = std::iter::successors(Some(n), |x| match x {
            1 => None,
            x if x % 2 == 1 => Some(3 * x + 1),
            x => Some(x / 2),
        });
        buffers[0][n as usize] = steps.count() as u32 - 1;
        buffers[1][0] += 1;
    }
    buffers
}

fn spmv_rows(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let mut start = 0;
    for (row, to) in buffers[0].iter_mut().enumerate() {
        *to = start as u32;
        start += (row * 7 % 9 + usize::from(row == 33) * 60).min(512 - start);
    }
    let [starts, columns, values, x, _] = &buffers[..] else { panic!("five buffers") };
    let number = |bits: u32| f32::from_bits(bits);
    let product = |at: usize| number(values[at]) * number(x[columns[at] as usize]);
    let row = |ends: &[u32]| (ends[0] as usize..ends[1] as usize).fold(0.0, |sum, at| sum + product(at)).to_bits();
    buffers[4] = starts.windows(2).map(row).collect();
    buffers
}

fn string_search(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    for i in 0..32 {
        let pattern: Vec<u32> = (0..5).map(|bit| i >> bit & 1).collect();
        let found = || buffers[0].windows(5).enumerate().filter(|(_, window)| *window == pattern);
        let (count, first) = (found().count() as u32, found().next().map_or(999, |(at, _)| at as u32));
        buffers[1][i as usize] = count;
        buffers[2][i as usize] = first;
    }
    buffers
}

fn subgroup_width(mut buffers: Vec<Vec<u32>>, lanes: u32) -> Vec<Vec<u32>> {
    let width = lanes as usize;
    let items = buffers[0].clone();
    for i in 0..96 {
        let (own, lane) = (&items[i / width * width..][..width], i % width);
        let odd = own[lane] & 1;
        let alike = || own.iter().copied().filter(|item| item & 1 == odd);
        let all = [
            lanes,
            sum(own.iter().copied()),
            own[..lane].iter().map(|item| item & 0xff).sum(),
            own[0],
            (0..).zip(own).map(|(at, item)| (item & 1) << at).sum(),
            own[(3 * lane + 1) % width],
            if lane == 0 { 0 } else { own[lane - 1] },
            if lane == width - 1 { 0 } else { own[lane + 1] },
            match odd {
                1 => alike().map(|item| item >> 8).min().expect("itself is one"),
                _ => alike().fold(1, |product, item| product.wrapping_mul(item | 1)),
            },
            own.iter().all(|item| *item > 1000).into(),
        ];
        buffers[1][10 * i..][..10].copy_from_slice(&all);
    }
    buffers
}

fn union_find(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let mut labels: Vec<u32> = (0..128).collect();
    // Two workgroups of 32 take 64 of the edges.
    for edge in buffers[0].chunks(2).take(64) {
        let (a, b) = (labels[edge[0] as usize], labels[edge[1] as usize]);
        labels.iter_mut().filter(|label| **label == a.max(b)).for_each(|label| *label = a.min(b));
    }
    buffers[2] = labels;
    buffers
}

fn wide(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let power =
        |base: u64, exponent: u64, modulus: u64| (0..exponent).fold(1, |all, _| all * (base % modulus) % modulus);
    for i in 0..64 {
        let (x, y) = (buffers[0][2 * i], buffers[0][2 * i + 1]);
        let a = u64::from(x) << 32 | u64::from(y);
        let b = i64::from(x) - 0x8000_0000;
        let all = [
            power(y.into(), (x & 0xff).into(), 4_294_967_291),
            (a as i64 / (b | 1)) as u64 ^ (a % u64::from(y | 1)),
            (a << i).wrapping_add((a as i64 >> i) as u64),
            u64::from(a as u32)
                .wrapping_add((b as i32 as u64).wrapping_mul(((a as i64) < b.wrapping_mul(b)).into()))
                .wrapping_add(a.max(!a))
                .wrapping_sub(b.min(-b) as u64),
        ];
        buffers[1][8 * i..][..8].copy_from_slice(bytemuck::cast_slice(&all));
    }
    buffers
}

fn widening(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let wide = |word: &u32| [u64::from(*word), i64::from(*word as i32) as u64];
    let all: Vec<u64> = buffers[0].iter().flat_map(wide).collect();
    buffers[1] = bytemuck::cast_slice(&all).to_vec();
    buffers
}

fn layers_and_volumes(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    for (i, id) in (0..8).flat_map(|z| (0..8).flat_map(move |y| (0..8).map(move |x| [x, y, z]))).enumerate() {
        let [x, y, z] = id;
        let word = i as u32;
        if let Some(texel) = buffers[0].get_mut(i) {
            *texel = word * word;
        }
        if x < 5 && y < 6 && z < 4 {
            let texel = [word as u8, x as u8, y as u8, z as u8];
            buffers[1][x + 5 * (y + 6 * z)] = u32::from_le_bytes(texel);
        }
        if x < 4 && y < 3 && z < 5 {
            let texel = [word as f32, -0.5 * z as f32].map(f32::to_bits);
            buffers[2][2 * (x + 4 * (y + 3 * z))..][..2].copy_from_slice(&texel);
        }
        // The line is 21 long, what its texels lack of four components is 0, 0 and 1, and there are 4 layers.
        buffers[3][i] = (word % 21).pow(2) + 21_000 + 100_000 + 4_000_000;
    }
    buffers
}

fn storage_textures(mut buffers: Vec<Vec<u32>>, _: u32) -> Vec<Vec<u32>> {
    let (width, height) = (23, 13);
    let image = buffers[0].clone();
    let texel = |x: i32, y: i32| {
        let (x, y) = (x.clamp(0, width - 1), y.clamp(0, height - 1));
        image[(x + width * y) as usize].to_le_bytes().map(u32::from)
    };
    // A whole number as a half float: from the first of its bits on.
    let half = |number: u32| match number.checked_ilog2() {
        Some(exponent) => (15 + exponent) << 10 | number << (10 - exponent) & 0x3ff,
        None => 0,
    };
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let i = (x + width * y) as usize;
        let three = |texels: [[u32; 4]; 3]| [0, 1, 2, 3].map(|c| texels.iter().map(|texel| texel[c]).sum::<u32>());
        let row = three([-1, 0, 1].map(|step| texel(x + step, y)));
        // Steps of 1/127, from -127 on.
        let blurred = row.map(|sum| ((f64::from(sum) / 3.0).round() - 127.0).min(127.0) as i8 as u8);
        buffers[1][i] = u32::from_le_bytes(blurred);
        let column = three([-1, 0, 1].map(|step| texel(x, y + step))).map(half);
        buffers[2][2 * i] = column[0] | column[1] << 16;
        buffers[2][2 * i + 1] = column[2] | column[3] << 16;
        buffers[3][i] = (1000 * i as u32 + image[i].count_ones()) ^ (x as u32) << 20;
    }
    buffers[4][..2].copy_from_slice(&[width as u32, height as u32]);
    buffers
}

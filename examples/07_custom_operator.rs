//! An operator of one's own over a struct: count, mean and sum of squared deviations of a million samples, merged
//! pairwise as Chan, Golub and LeVeque do it (1979), which keeps its digits where a sum of squares loses them.
//!
//! `cargo run --example 07_custom_operator`

use wavelane::{Gpu, Operator};

#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Moments {
    count: f32,
    mean: f32,
    m2: f32, // sum of squared deviations from the mean
}
wavelane::element!(Moments { count: f32, mean: f32, m2: f32 });

/// The library declares the struct; the text says what to begin with and how to merge two.
const MERGE: &str = "
fn identity() -> Moments {
  return Moments(0.0, 0.0, 0.0);
}

fn combine(a: Moments, b: Moments) -> Moments {
  let count = a.count + b.count;
  let share = b.count / max(count, 1.0);
  let delta = b.mean - a.mean;
  return Moments(count, a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share);
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::open()?;
    // Far from zero and close together: in f32 the sum of their squares alone would drown the variance.
    let samples: Vec<f32> =
        (0..1_000_000u32).map(|i| 10_000.0 + (i.wrapping_mul(0x9E37_79B1) >> 24) as f32 / 32.0).collect();
    let singles: Vec<Moments> = samples.iter().map(|sample| Moments { count: 1.0, mean: *sample, m2: 0.0 }).collect();

    let merge = Operator::<Moments>::wgsl(MERGE)?;
    let all = gpu.reduce(&singles, merge.clone())?;
    let again = gpu.reduce(&singles, merge)?;

    let count = samples.len() as f64;
    let mean = samples.iter().map(|x| f64::from(*x)).sum::<f64>() / count;
    let variance = samples.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / count;
    let found = [f64::from(all.mean), f64::from(all.m2) / f64::from(all.count)];
    println!("{}, {}", gpu.info().name, gpu.path());
    println!("  samples   {:.0}", all.count);
    println!("  mean      {:.4}, in f64 {mean:.4}", found[0]);
    println!("  variance  {:.4}, in f64 {variance:.4}", found[1]);
    let squares = samples.iter().map(|x| x * x).sum::<f32>() / samples.len() as f32;
    let naive = squares - (samples.iter().sum::<f32>() / samples.len() as f32).powi(2);
    println!("  variance  {naive:.4} as mean of squares minus square of mean, added up in f32 one by one");

    let close = |a: f64, b: f64, relative: f64| (a - b).abs() <= relative * b.abs();
    if f64::from(all.count) != count || !close(found[0], mean, 1e-6) || !close(found[1], variance, 1e-3) {
        return Err(format!("{all:?} is too far from mean {mean} and variance {variance}").into());
    }
    if bytemuck::bytes_of(&all) != bytemuck::bytes_of(&again) {
        return Err("two runs gave different bits".into());
    }
    println!("  a second run gave the same bits");
    Ok(())
}

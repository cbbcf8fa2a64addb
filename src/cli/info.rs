//! `wavelane info`: every adapter, what it reports, what was counted, and what follows.

use std::fmt::Write;

use clap::Args;
use comfy_table::{Attribute, Cell, Color};
use serde::Serialize;
use wavelane::lab;
use wavelane::report::AdapterRecord;
use wavelane::{Gpu, wgpu};

use super::{DeviceArgs, Result, output};

/// Lists the adapters: what each reports, what was counted, which path is taken and why
///
/// With `--adapter`, only that one. An adapter that cannot be opened is listed with its error.
///
/// The JSON is one object: `schema` (1; fields are only ever added), `version` of this tool, and `adapters`, a list
/// in the order of the indices that --adapter takes. Each adapter has `index`, `chosen` (whether a run with
/// the same options takes it), `name`, `backend`, `kind`, `driver`, `vendor_id`, `device_id`, and either `error` (text) or `device`:
/// `reported_lanes` (smallest, largest; 0 and 0 without subgroups), `counted_lanes` (1 without subgroups),
/// `path` (native or emulated), `path_lanes`, `path_reason`, `warning` (text or null), `timestamp_period_ns` (null
/// without timestamps), `counts_issues` (whether it is the simulator), `features` and `limits` by wgpu's names, and
/// `shapes`, the workgroups that were probed.
#[derive(Debug, Args)]
pub(super) struct InfoArgs {
    /// Prints JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    device: DeviceArgs,
}

/// The version of the JSON.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Info {
    schema: u32,
    version: &'static str,
    adapters: Vec<AdapterInfo>,
}

#[derive(Serialize)]
struct AdapterInfo {
    index: usize,
    chosen: bool,
    name: String,
    backend: String,
    kind: &'static str,
    driver: String,
    vendor_id: u32,
    device_id: u32,
    device: Option<DeviceInfo>,
    error: Option<String>,
}

#[derive(Serialize)]
struct DeviceInfo {
    reported_lanes: [u32; 2],
    counted_lanes: u32,
    path: &'static str,
    path_lanes: u32,
    path_reason: String,
    warning: Option<String>,
    timestamp_period_ns: Option<f32>,
    counts_issues: bool,
    features: Features,
    limits: Limits,
    shapes: Vec<Shape>,
}

#[derive(Serialize)]
struct Features {
    subgroup: bool,
    timestamp_query: bool,
    shader_int64: bool,
    shader_f16: bool,
}

#[derive(Serialize)]
struct Limits {
    max_compute_invocations_per_workgroup: u32,
    max_compute_workgroup_size_x: u32,
    max_compute_workgroup_size_y: u32,
    max_compute_workgroup_size_z: u32,
    max_compute_workgroup_storage_size: u32,
    max_compute_workgroups_per_dimension: u32,
    max_storage_buffers_per_shader_stage: u32,
    max_storage_buffer_binding_size: u64,
    max_buffer_size: u64,
    min_storage_buffer_offset_alignment: u32,
}

#[derive(Serialize)]
struct Shape {
    workgroup: u32,
    told_lanes: u32,
    counted_lanes: u32,
    last_lanes: u32,
    consistent: bool,
    linear: bool,
}

pub(super) fn run(args: &InfoArgs) -> Result {
    let device = &args.device;
    let adapters = device.adapters()?;
    let chosen = device.choose(&adapters)?;
    let listed = adapters
        .iter()
        .enumerate()
        .filter(|(_, adapter)| device.adapter.is_none() || *adapter == chosen)
        .map(|(index, adapter)| {
            let opened = device.options().open_adapter(adapter);
            AdapterInfo::new(index, adapter == chosen, &adapter.get_info(), opened)
        })
        .collect();
    let info = Info { schema: SCHEMA, version: env!("CARGO_PKG_VERSION"), adapters: listed };
    output::print(&if args.json { output::json(&info)? } else { text(&info) })
}

impl AdapterInfo {
    fn new(index: usize, chosen: bool, info: &wgpu::AdapterInfo, opened: wavelane::Result<Gpu>) -> Self {
        let (device, error) = match opened {
            Ok(gpu) => (Some(DeviceInfo::new(&gpu)), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Self {
            index,
            chosen,
            name: info.name.clone(),
            backend: backend(info.backend),
            kind: kind(info),
            driver: driver(info),
            vendor_id: info.vendor,
            device_id: info.device,
            device,
            error,
        }
    }
}

impl DeviceInfo {
    fn new(gpu: &Gpu) -> Self {
        let (probe, limits) = (gpu.probe(), gpu.limits());
        let has = |feature| gpu.features().contains(feature);
        Self {
            reported_lanes: probe.reported().into(),
            counted_lanes: probe.width(),
            path: gpu.path().name(),
            path_lanes: gpu.lanes(),
            path_reason: lab::adapter_record(gpu).path_reason,
            warning: probe.warning(),
            counts_issues: gpu.is_simulated(),
            timestamp_period_ns: (has(wgpu::Features::TIMESTAMP_QUERY) && !gpu.is_simulated())
                .then(|| gpu.queue().get_timestamp_period()),
            features: Features {
                subgroup: has(wgpu::Features::SUBGROUP),
                timestamp_query: has(wgpu::Features::TIMESTAMP_QUERY),
                shader_int64: has(wgpu::Features::SHADER_INT64),
                shader_f16: has(wgpu::Features::SHADER_F16),
            },
            limits: Limits {
                max_compute_invocations_per_workgroup: limits.max_compute_invocations_per_workgroup,
                max_compute_workgroup_size_x: limits.max_compute_workgroup_size_x,
                max_compute_workgroup_size_y: limits.max_compute_workgroup_size_y,
                max_compute_workgroup_size_z: limits.max_compute_workgroup_size_z,
                max_compute_workgroup_storage_size: limits.max_compute_workgroup_storage_size,
                max_compute_workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
                max_storage_buffers_per_shader_stage: limits.max_storage_buffers_per_shader_stage,
                max_storage_buffer_binding_size: limits.max_storage_buffer_binding_size,
                max_buffer_size: limits.max_buffer_size,
                min_storage_buffer_offset_alignment: limits.min_storage_buffer_offset_alignment,
            },
            shapes: probe
                .shapes()
                .iter()
                .map(|shape| Shape {
                    workgroup: shape.workgroup,
                    told_lanes: shape.told_lanes,
                    counted_lanes: shape.counted_lanes,
                    last_lanes: shape.last_lanes,
                    consistent: shape.consistent,
                    linear: shape.linear,
                })
                .collect(),
        }
    }
}

/// The backend's name; the simulator's, which wgpu has none for, is the name of its module.
fn backend(backend: wgpu::Backend) -> String {
    if backend == wgpu::Backend::Noop { "simt".into() } else { backend.to_string() }
}

/// The kind of adapter in words.
fn kind(info: &wgpu::AdapterInfo) -> &'static str {
    match info.device_type {
        _ if info.backend == wgpu::Backend::Noop => AdapterRecord::SIMULATOR,
        wgpu::DeviceType::DiscreteGpu => "discrete GPU",
        wgpu::DeviceType::IntegratedGpu => "integrated GPU",
        wgpu::DeviceType::VirtualGpu => "virtual GPU",
        wgpu::DeviceType::Cpu => "CPU driver",
        wgpu::DeviceType::Other => "other",
    }
}

/// The driver's name and version, as far as it gives them.
fn driver(info: &wgpu::AdapterInfo) -> String {
    let parts = [info.driver.as_str(), info.driver_info.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn text(info: &Info) -> String {
    let blocks: Vec<_> = info.adapters.iter().map(|adapter| block(adapter, info.adapters.len() > 1)).collect();
    blocks.join("\n")
}

/// One adapter: a heading, then a line a property.
fn block(adapter: &AdapterInfo, several: bool) -> String {
    let (bold, plain) = if output::is_styled() { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let chosen = if several && adapter.chosen { "  (chosen)" } else { "" };
    let mut text = format!("{}: {bold}{}{plain}{chosen}\n", adapter.index, adapter.name);
    let known = [adapter.backend.as_str(), adapter.kind, adapter.driver.as_str()];
    let known: Vec<_> = known.into_iter().filter(|part| !part.is_empty()).collect();

    let mut table = output::table();
    let mut row = |name: &str, value: Cell| {
        table.add_row([Cell::new(format!("  {name}")).add_attribute(Attribute::Dim), value]);
    };
    row("adapter", Cell::new(known.join(" · ")));
    if let Some(error) = &adapter.error {
        row("error", Cell::new(error).fg(Color::DarkRed));
    }
    if let Some(device) = &adapter.device {
        row("lanes", Cell::new(device.lanes()));
        row("path", Cell::new(device.path()));
        if let Some(warning) = &device.warning {
            row("warning", Cell::new(warning).fg(Color::DarkYellow));
        }
        row("times", Cell::new(device.times()));
        row("types", Cell::new(device.types()));
        let limits = &device.limits;
        row("workgroup", Cell::new(limits.workgroup()));
        row("dispatch", Cell::new(limits.dispatch()));
        row("buffers", Cell::new(limits.buffers()));
    }
    text += &output::lines(&table);
    text
}

impl DeviceInfo {
    /// A square a lane, hollow for lanes that are reported but do not run, and the same in numbers.
    fn lanes(&self) -> String {
        if !self.features.subgroup {
            return "no subgroups".into();
        }
        let told = self.shapes.iter().map(|shape| shape.told_lanes).max().unwrap_or(0);
        let squares: Vec<char> =
            (0..told.max(self.counted_lanes)).map(|lane| if lane < self.counted_lanes { '■' } else { '□' }).collect();
        let mut text = String::new();
        for line in squares.chunks(64) {
            text.extend(line);
            text.push('\n');
        }
        let reported = match self.reported_lanes {
            [min, max] if min == max => format!("{max} reported"),
            [min, max] => format!("{min} to {max} reported"),
        };
        let _ = write!(text, "{} counted, {reported}", self.counted_lanes);
        if self.shapes.iter().any(|shape| !shape.linear) {
            text += "; lanes do not follow the invocation index";
        }
        text
    }

    fn path(&self) -> String {
        let path = match self.path {
            "emulated" => format!("emulated at {} lanes", self.path_lanes),
            path => path.into(),
        };
        match self.warning {
            // The warning gives the reason.
            Some(_) => path,
            None => format!("{path}: {}", self.path_reason),
        }
    }

    fn times(&self) -> String {
        match self.timestamp_period_ns {
            Some(period) => format!("GPU timestamps, {period} ns a tick"),
            None if self.counts_issues => "none: timestamps count issued instructions".into(),
            None => "no GPU timestamps: times are the host's".into(),
        }
    }

    fn types(&self) -> String {
        let has = |yes: bool| if yes { "yes" } else { "no" };
        format!("64-bit integers {}, 16-bit floats {}", has(self.features.shader_int64), has(self.features.shader_f16))
    }
}

impl Limits {
    fn workgroup(&self) -> String {
        format!(
            "{} invocations (at most {} x {} x {}), {} of memory",
            thousands(self.max_compute_invocations_per_workgroup),
            thousands(self.max_compute_workgroup_size_x),
            thousands(self.max_compute_workgroup_size_y),
            thousands(self.max_compute_workgroup_size_z),
            bytes(self.max_compute_workgroup_storage_size.into())
        )
    }

    fn dispatch(&self) -> String {
        format!("{} workgroups a dimension", thousands(self.max_compute_workgroups_per_dimension))
    }

    fn buffers(&self) -> String {
        format!(
            "{} a buffer, {} a binding at multiples of {} bytes, {} storage bindings",
            bytes(self.max_buffer_size),
            bytes(self.max_storage_buffer_binding_size),
            self.min_storage_buffer_offset_alignment,
            thousands(self.max_storage_buffers_per_shader_stage)
        )
    }
}

/// 65535 as 65,535.
fn thousands(value: u32) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size in the largest unit that keeps it at 1 or more, with one decimal where it is no whole number.
fn bytes(value: u64) -> String {
    let mut scaled = value as f64;
    let mut units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    while scaled >= 1024.0 {
        let Some(larger) = units.next() else { break };
        scaled /= 1024.0;
        unit = larger;
    }
    let rounded = (scaled * 10.0).round() / 10.0;
    format!("{rounded} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(device: Option<DeviceInfo>, error: Option<&str>) -> AdapterInfo {
        AdapterInfo {
            index: 1,
            chosen: true,
            name: "Some GPU".into(),
            backend: "metal".into(),
            kind: "integrated GPU",
            driver: String::new(),
            vendor_id: 0,
            device_id: 0,
            device,
            error: error.map(Into::into),
        }
    }

    fn device(told: u32, counted: u32) -> DeviceInfo {
        DeviceInfo {
            reported_lanes: [4, told],
            counted_lanes: counted,
            path: "native",
            path_lanes: counted,
            path_reason: "so".into(),
            warning: None,
            timestamp_period_ns: None,
            counts_issues: false,
            features: Features { subgroup: told > 0, timestamp_query: false, shader_int64: false, shader_f16: true },
            limits: Limits {
                max_compute_invocations_per_workgroup: 256,
                max_compute_workgroup_size_x: 256,
                max_compute_workgroup_size_y: 256,
                max_compute_workgroup_size_z: 64,
                max_compute_workgroup_storage_size: 16 << 10,
                max_compute_workgroups_per_dimension: 65_535,
                max_storage_buffers_per_shader_stage: 8,
                max_storage_buffer_binding_size: 128 << 20,
                max_buffer_size: 256 << 20,
                min_storage_buffer_offset_alignment: 256,
            },
            shapes: vec![Shape {
                workgroup: 128,
                told_lanes: told,
                counted_lanes: counted,
                last_lanes: counted,
                consistent: true,
                linear: true,
            }],
        }
    }

    #[test]
    fn an_adapter_that_cannot_be_opened_shows_its_error() {
        let text = block(&adapter(None, Some("out of luck")), true);
        assert_eq!(text, "1: Some GPU  (chosen)\n   adapter  metal · integrated GPU\n   error    out of luck\n");
    }

    #[test]
    fn lanes_are_drawn() {
        assert_eq!(device(8, 8).lanes(), "■■■■■■■■\n8 counted, 4 to 8 reported");
        assert_eq!(device(8, 4).lanes(), "■■■■□□□□\n4 counted, 4 to 8 reported");
        assert_eq!(
            device(128, 128).lanes().lines().map(|line| line.chars().count()).take(2).collect::<Vec<_>>(),
            [64, 64]
        );
        assert_eq!(device(0, 1).lanes(), "no subgroups");
    }

    #[test]
    fn a_wide_device_fits_the_columns() {
        let text = block(&adapter(Some(device(128, 128)), None), false);
        assert!(text.lines().all(|line| line.chars().count() <= output::columns().into()), "{text}");
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(32 << 10), "32 KiB");
        assert_eq!(bytes(128 << 20), "128 MiB");
        assert_eq!(bytes(i32::MAX as u64), "2 GiB");
        assert_eq!(bytes(u64::MAX), "16384 PiB");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(65_535), "65,535");
        assert_eq!(thousands(1_234_567), "1,234,567");
    }
}

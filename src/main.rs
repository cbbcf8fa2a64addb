//! The command-line tool.
fn main() {
    for (i, a) in wavelane::Adapters::find(None).iter().enumerate() {
        println!("{i} {:?}", a.get_info().name);
        let g = wavelane::Gpu::options().open_adapter(a).unwrap();
        println!("{g:?} {:#?} {:?}", g.probe(), g.probe().warning());
        for s in [[100, 1, 1], [16, 16, 1], [5, 3, 2], [33, 3, 1]] {
            let m = wavelane::LaneMap::measure(&g, s).unwrap();
            println!("{s:?} {} {}", m.width(), m.exceptions(m.width()).len());
        }
    }
}

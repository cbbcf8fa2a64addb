// The combination of a workgroup's span, in every invocation. The subgroups share the span out among themselves in
// contiguous parts, so that their order is the order of the items.

fn dev_reduce_span(span: DevSpan) -> T {
  let step = ROWS * sg_size;
  let steps = (span.last - span.first + sg_groups * step - 1u) / (sg_groups * step);
  var part = span;
  part.first = min(span.first + sg_id * steps * step, span.last);
  part.last = min(part.first + steps * step, span.last);
  return wg_reduce_parts(dev_fold(part, steps));
}

// Small charts on a canvas: stacked areas, lines, bars, and the waterfall of partitions. They draw
// what they are given; text goes through fillText and textContent only. They keep nothing between
// two calls: each draws the whole canvas anew, which is cheap once a second.
'use strict';

const charts = (() => {
  // Colours are variables of the style sheet, so that light and dark need nothing here.
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // The fonts of the page, for the canvas knows none of its styles.
  const font = (size) => `${size}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;

  // The canvas cleared, at the screen's own resolution, in CSS pixels. The size of its bits is set
  // only when it changed: setting it clears what was drawn.
  function surface(canvas, height) {
    if (height !== undefined) canvas.style.height = `${height}px`;
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth,
      tall = canvas.clientHeight;
    const w = Math.round(width * ratio),
      h = Math.round(tall * ratio);
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
    }
    const g = canvas.getContext('2d');
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, tall);
    return { g, width, height: tall };
  }

  // The top of an axis at or above `value`, and the step of its four grid lines: 1, 2 or 5 times a
  // power of ten, or a power of two for bytes. So the labels are round numbers whatever the values
  // are.
  function roundUp(value, bytes) {
    const least = Math.max(value, bytes ? 1024 : 4) / 4;
    if (bytes) {
      const step = Math.pow(2, Math.ceil(Math.log2(least)));
      const half = step * 0.75; // 3, 6, 12, 24 ... of a unit read well too
      return half >= least ? { top: half * 4, step: half } : { top: step * 4, step };
    }
    const unit = Math.pow(10, Math.floor(Math.log10(least)));
    const step = unit * [1, 2, 5, 10].find((s) => unit * s >= least);
    return { top: step * 4, step };
  }

  // A time of day where the reader is.
  function clock(ms, seconds) {
    const at = new Date(ms),
      two = (n) => String(n).padStart(2, '0');
    const minutes = `${two(at.getHours())}:${two(at.getMinutes())}`;
    return seconds ? `${minutes}:${two(at.getSeconds())}` : minutes;
  }

  // The step of a time axis: so that labels stand 110 pixels apart at least, and a round time.
  function timeStep(span_ms, width) {
    const wanted = span_ms / Math.max(2, Math.floor(width / 110));
    const steps = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600].map(
      (s) => s * 1000,
    );
    return steps.find((s) => s >= wanted) || steps[steps.length - 1];
  }

  // Lines and labels at round times from `from` to `to`; `above`: labels at the top. A label that
  // would stick out at either end is left out, its line is not.
  function timeAxis(g, area, from, to, above) {
    const step = timeStep(to - from, area.right - area.left);
    g.font = font(11);
    g.textAlign = 'center';
    g.textBaseline = 'top';
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = area.left + ((t - from) / (to - from)) * (area.right - area.left);
      g.fillStyle = colour('--grid');
      g.fillRect(Math.round(x), area.top, 1, area.bottom - area.top);
      const text = clock(t, step < 60000),
        half = g.measureText(text).width / 2;
      if (x - half < area.left || x + half > area.right + 8) continue;
      g.fillStyle = colour('--quiet');
      g.fillText(text, x, above ? 0 : area.bottom + 6);
    }
  }

  // plot: {from, to, times, stacks: [{colour, values}], lines: [{colour, values, dash}],
  //        bars: [{colour, values}], format, bytes, least}
  // values are parallel to times. Returns what hover() needs.
  function timeChart(canvas, plot) {
    const { g, width, height } = surface(canvas);
    const area = { left: 60, right: width - 6, top: 8, bottom: height - 24 };
    const sums = plot.times.map((_, i) => plot.stacks.reduce((sum, s) => sum + s.values[i], 0));
    let most = plot.least || 0;
    // A sample before the window begins a line and does not set the scale.
    for (let i = 0; i < plot.times.length; i++) {
      if (plot.times[i] < plot.from) continue;
      most = Math.max(
        most,
        sums[i],
        ...plot.lines.map((l) => l.values[i]),
        plot.bars.reduce((sum, b) => sum + b.values[i], 0),
      );
    }
    const { top, step } = roundUp(most, plot.bytes);
    const y = (v) => area.bottom - (v / top) * (area.bottom - area.top);
    const x = (t) =>
      area.left + ((t - plot.from) / (plot.to - plot.from)) * (area.right - area.left);
    g.font = font(11);
    g.textBaseline = 'middle';
    g.textAlign = 'right';
    // A little more than the top: sums of fractions may end just beside it.
    for (let v = 0; v <= top * 1.001; v += step) {
      g.fillStyle = v === 0 ? colour('--line') : colour('--grid');
      g.fillRect(area.left, Math.round(y(v)), area.right - area.left, 1);
      g.fillStyle = colour('--quiet');
      g.fillText(plot.format(v), area.left - 8, y(v));
    }
    timeAxis(g, area, plot.from, plot.to);
    // Within the axes: the first value lies before the window's begin.
    g.save();
    g.beginPath();
    g.rect(area.left, area.top - 2, area.right - area.left, area.bottom - area.top + 2);
    g.clip();
    drawStacks(g, plot, x, y);
    drawBars(g, plot, x, y, area);
    drawLines(g, plot, x, y);
    g.restore();
    return { area, x, plot };
  }

  // Areas on one another: along the upper edge, and back along the lower one.
  function drawStacks(g, plot, x, y) {
    const below = plot.times.map(() => 0);
    for (const stack of plot.stacks) {
      // A category that is empty all the time would only thicken the line below it.
      if (!stack.values.some((v) => v > 0)) continue;
      g.beginPath();
      plot.times.forEach((t, i) => g.lineTo(x(t), y(below[i] + stack.values[i])));
      for (let i = plot.times.length - 1; i >= 0; i--) g.lineTo(x(plot.times[i]), y(below[i]));
      g.closePath();
      g.globalAlpha = 0.82;
      g.fillStyle = stack.colour;
      g.fill();
      g.globalAlpha = 1;
      stack.values.forEach((v, i) => {
        below[i] += v;
      });
    }
  }

  // Bars of one time stand on one another. All are as wide as the step between the first two times.
  function drawBars(g, plot, x, y, area) {
    const below = plot.times.map(() => 0);
    for (const bars of plot.bars) {
      const wide = Math.max(1, x(plot.times[1] ?? 0) - x(plot.times[0] ?? 0) - 2);
      g.fillStyle = bars.colour;
      bars.values.forEach((v, i) => {
        if (v <= 0) return;
        const foot = Math.min(area.bottom, y(below[i])),
          tall = Math.max(2, foot - y(below[i] + v));
        g.beginPath();
        g.roundRect(x(plot.times[i]) + 1, foot - tall, wide, tall, [
          Math.min(3, wide / 2),
          Math.min(3, wide / 2),
          0,
          0,
        ]);
        g.fill();
        below[i] += v;
      });
    }
  }

  // In their order, so the last is on top; `fill` shades what is below.
  function drawLines(g, plot, x, y) {
    for (const line of plot.lines) {
      g.beginPath();
      plot.times.forEach((t, i) => g.lineTo(x(t), y(line.values[i])));
      g.strokeStyle = line.colour;
      g.lineWidth = line.width || 2;
      g.lineJoin = 'round';
      g.setLineDash(line.dash || []);
      g.stroke();
      g.setLineDash([]);
      if (!line.fill) continue;
      g.lineTo(x(plot.times[plot.times.length - 1]), y(0));
      g.lineTo(x(plot.times[0]), y(0));
      g.globalAlpha = 0.12;
      g.fillStyle = line.colour;
      g.fill();
      g.globalAlpha = 1;
    }
  }

  // Rows of the waterfall: [{label, note, tone, parts: [{index, spans: [{from, to, kind}]}]}].
  // Returns boxes for hover: [{x0, x1, y0, y1, row, part, span}]. The canvas becomes as tall as the
  // rows need. On a narrow screen the words stand above a row's lanes, elsewhere beside them.
  function waterfall(canvas, rows, from, to, stageColour) {
    const narrow = canvas.clientWidth < 620,
      head = narrow ? 20 : 0;
    const lane = (row) => (row.parts.length > 12 ? 5 : row.parts.length > 4 ? 7 : 10);
    const tall = (row) =>
      head + Math.max(narrow ? 12 : 30, row.parts.length * (lane(row) + 2)) + 12;
    const { g, width, height } = surface(
      canvas,
      rows.reduce((sum, row) => sum + tall(row), 24),
    );
    const area = { left: narrow ? 4 : 190, right: width - 8, top: 18, bottom: height - 4 };
    timeAxis(g, area, from, to, true);
    // In pixels of the page, as pointer events are.
    const boxes = [];
    let top = area.top + 8;
    rows.forEach((row, number) => {
      if (number > 0) {
        g.fillStyle = colour('--grid');
        g.fillRect(0, Math.round(top - 6), width, 1);
      }
      drawLabel(g, row, narrow, top, area);
      row.parts.forEach((part, i) => {
        const y0 = top + head + 2 + i * (lane(row) + 2);
        for (const span of part.spans) {
          const box = drawSpan(g, span, y0, lane(row), from, to, area, stageColour);
          if (box) boxes.push({ ...box, row, part, span });
        }
      });
      top += tall(row);
    });
    return boxes;
  }

  // A job's name, and what it is and does.
  function drawLabel(g, row, narrow, top, area) {
    g.textBaseline = 'top';
    g.textAlign = 'left';
    g.font = `600 ${font(12)}`;
    g.fillStyle = colour('--ink');
    g.fillText(fit(g, row.label, narrow ? area.right * 0.55 : 176), 0, top);
    g.font = font(11);
    g.fillStyle = colour(row.tone);
    if (narrow) {
      g.textAlign = 'right';
      g.fillText(fit(g, row.note, area.right * 0.42), area.right, top + 1);
    } else {
      g.fillText(fit(g, row.note, 176), 0, top + 16);
    }
  }

  // A time in one stage, cut to the window; its box, or null when all of it lies outside. A wait is
  // drawn thinner than work, and the shortest span a pixel and a half.
  function drawSpan(g, span, y0, lane, from, to, area, stageColour) {
    if (span.to < from || span.from > to) return null;
    const at = (t) =>
      area.left +
      ((Math.min(Math.max(t, from), to) - from) / (to - from)) * (area.right - area.left);
    const x0 = at(span.from),
      x1 = Math.max(at(span.to), x0 + 1.5);
    g.fillStyle = stageColour(span.kind);
    const waiting = span.kind === 'wait';
    const inset = waiting ? Math.floor(lane / 3) : 0;
    g.beginPath();
    g.roundRect(
      x0,
      y0 + inset,
      x1 - x0,
      Math.max(1, lane - 2 * inset),
      waiting ? 0 : Math.min(2, (x1 - x0) / 2),
    );
    g.fill();
    return { x0, x1, y0, y1: y0 + lane };
  }

  // The text cut with an ellipsis to `width`.
  function fit(g, text, width) {
    if (g.measureText(text).width <= width) return text;
    let end = text.length;
    // Letter by letter: widths differ, and names are short.
    while (end > 1 && g.measureText(`${text.slice(0, end)}…`).width > width) end--;
    return `${text.slice(0, end)}…`;
  }

  return { timeChart, waterfall, colour, clock };
})();

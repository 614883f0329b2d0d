// Asks the daemon once a second for what changed and shows it. What comes from outside (job ids,
// errors, names of devices) becomes text nodes and canvas text, never markup. One object holds all
// that is known; each answer changes it and everything is drawn from it.
'use strict';

(() => {
  // How often the daemon is asked, and after a failure; how many ended jobs and samples are kept.
  const interval_ms = 1000,
    retry_ms = 3000,
    ended_max = 100,
    samples_max = 4000;
  // In the order of the engine's partition states.
  const stages = [
    'queued',
    'witness',
    'waits for a device',
    'device',
    'waits to finish',
    'finish',
    'done',
    'ended',
  ];
  // What each of them is drawn as: waits alike, what is over not at all.
  const stageKinds = ['none', 'witness', 'wait', 'device', 'wait', 'finish', 'none', 'ended'];
  const stageNames = { witness: 'Witness', wait: 'Waiting', device: 'Device', finish: 'Finish' };
  // revision and the last sample's time say to the daemon what is known already. jobs: by id, those
  // that have begun or ended; queued: the oldest that wait, whole each time. samples: in order of
  // time, by the daemon's clock; skew_ms is what that clock is ahead of ours. boxes and hovers:
  // what the pointer may be over, as it was drawn last.
  const state = {
    started_ms: 0,
    revision: 0,
    jobs: new Map(),
    queued: [],
    queuedCount: 0,
    samples: [],
    now: null,
    range_ms: 300000,
    boxes: [],
    hovers: new Map(),
    skew_ms: 0,
  };
  const byId = (id) => document.getElementById(id);

  // ---- words ----
  // "1.54 GiB": three digits at most, and no fraction where it would be zero.
  function bytes(n) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    while (n >= 1024 && unit < units.length - 1) {
      n /= 1024;
      unit++;
    }
    const whole = n >= 100 || unit === 0 || Number.isInteger(n);
    return `${whole ? Math.round(n) : Number(n.toFixed(n >= 10 ? 1 : 2))} ${units[unit]}`;
  }
  // In the two largest units that tell something.
  function duration(ms) {
    if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
    const s = ms / 1000;
    if (s < 60) return `${s.toFixed(s < 10 ? 1 : 0)} s`;
    if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
    if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
    return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
  }
  // Thousands apart by a narrow space that does not break.
  const count = (n) => n.toLocaleString('en-US').replace(/,/g, '\u202f');
  const plural = (n, word) => `${count(n)} ${word}${n === 1 ? '' : 's'}`;
  // Set only when it changed, so that a selection of the reader's stays.
  function text(id, value) {
    const e = byId(id);
    if (e.textContent !== value) e.textContent = value;
  }
  // An element with its text: never as markup, for names and errors come from outside.
  function node(tag, className, value) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (value !== undefined) made.textContent = value;
    return made;
  }

  // ---- what came in ----
  // An answer of /api/v1/dashboard. Another start time means another run of the daemon, whose
  // revisions begin anew: what was known is dropped.
  function take(answer) {
    if (answer.started_ms !== state.started_ms) {
      Object.assign(state, { started_ms: answer.started_ms, revision: 0, queued: [], samples: [] });
      state.jobs.clear();
    }
    state.now = answer;
    // The time of the way back is in it: some milliseconds, of a picture that is drawn by seconds.
    state.skew_ms = answer.now_ms - Date.now();
    const changes = answer.changes;
    state.revision = changes.revision;
    for (const job of changes.jobs) state.jobs.set(job.id, job);
    state.queued = changes.queued;
    state.queuedCount = changes.queued_count;
    state.samples.push(...changes.samples);
    // A little more than the daemon keeps, so a page that is open for long knows what a new one
    // does.
    if (state.samples.length > samples_max)
      state.samples.splice(0, state.samples.length - samples_max);
    // The daemon forgets ended jobs too; a page that is open for days must do it by itself.
    const ended = [...state.jobs.values()]
      .filter((j) => j.ended_ms > 0)
      .sort((a, b) => a.ended_ms - b.ended_ms);
    for (const job of ended.slice(0, Math.max(0, ended.length - ended_max)))
      state.jobs.delete(job.id);
  }
  // By the daemon's clock, in which all times of an answer are.
  const now_ms = () => Date.now() + state.skew_ms;
  // The time shown: what was chosen, or less where the daemon has not run for so long.
  function span_ms() {
    const first = state.samples.length ? state.samples[0].t : now_ms();
    return Math.min(state.range_ms, Math.max(60000, (now_ms() - first) * 1.05));
  }

  // ---- tiles and header ----
  // The state in one word, the worst first.
  function showHeader() {
    const now = state.now,
      usable = now.devices.filter((d) => d.usable).length;
    text('version', now.version);
    text('uptime', `up ${duration(now_ms() - now.started_ms)}`);
    if (now.draining) return pill('draining', 'warn');
    if (usable === 0) return pill('no usable device', 'bad');
    if (now.not_ready_reason) return pill('not ready', 'bad', now.not_ready_reason);
    if (usable < now.devices.length)
      return pill(`${now.devices.length - usable} of ${now.devices.length} devices lost`, 'warn');
    pill('ready', 'good');
  }
  // The word beside the title, in a tone of the style sheet; why, to who points at it.
  function pill(word, tone, why = '') {
    text('health', word);
    byId('health').title = why;
    byId('health').className = `pill ${tone}`;
  }
  // Over all kinds of jobs.
  const total = (field) => state.now.queues.reduce((sum, q) => sum + q[field], 0);
  // Proofs a minute, from the samples; 0 where they do not reach over some seconds.
  function rate(minutes) {
    const begin = now_ms() - minutes * 60000,
      first = state.samples.find((s) => s.t >= begin);
    if (!first) return 0;
    const last = state.samples[state.samples.length - 1],
      span = (last.t - first.t) / 60000;
    return span > 0.05 ? (last.completed - first.completed) / span : 0;
  }
  // The large numbers at the top, each with a line that says what to make of it.
  function showTiles() {
    const now = state.now,
      memory = now.memory,
      budget = memory.total_bytes;
    text('tile-running', count(total('in_progress')));
    text('tile-running-note', `at most ${now.workers.jobs_in_flight_max} at once`);
    text('tile-queued', count(total('pending')));
    const oldest = state.queued.length ? Math.min(...state.queued.map((j) => j.accepted_ms)) : 0;
    text(
      'tile-queued-note',
      oldest ? `oldest waits ${duration(now_ms() - oldest)}` : 'nothing waits',
    );
    text('tile-completed', count(total('completed')));
    text('tile-completed-note', `${rate(5).toFixed(1)} a minute lately`);
    text('tile-failed', count(total('failed')));
    byId('tile-failed').className = total('failed') > 0 ? 'bad-text' : '';
    text(
      'tile-failed-note',
      total('cancelled') ? `${count(total('cancelled'))} cancelled` : 'none cancelled',
    );
    // The ledger may be behind what is really resident, and the other way round.
    const most = Math.max(memory.used_bytes, memory.rss_bytes),
      share = budget ? Math.min(1, most / budget) : 0;
    text(
      'tile-memory',
      budget ? `${bytes(memory.used_bytes)} of ${bytes(budget)}` : bytes(memory.used_bytes),
    );
    byId('tile-memory-bar').style.width = `${(share * 100).toFixed(1)}%`;
    byId('tile-memory-bar').className = share > 0.92 ? 'warn' : '';
    const waiting = memory.waiting_requests
      ? `, ${plural(memory.waiting_requests, 'request')} waiting`
      : '';
    text(
      'tile-memory-note',
      `resident ${bytes(memory.rss_bytes)}, peak in ledger ${bytes(memory.peak_bytes)}${waiting}`,
    );
  }

  // ---- waterfall ----
  // The spans of a partition as they are drawn: each ends where the next begins, the last one with
  // its job or now.
  function spansOf(part, job) {
    const end = job.ended_ms || now_ms();
    return part.spans
      .map((span, i) => ({
        kind: stageKinds[span[0]],
        stage: span[0],
        from: span[1],
        attempt: span[2],
        device: span[3],
        to: i + 1 < part.spans.length ? part.spans[i + 1][1] : end,
      }))
      .filter((span) => span.kind !== 'none' && span.kind !== 'ended');
  }
  // The colour of a job by its state; names of the style sheet.
  const tones = {
    completed: '--good',
    failed: '--bad',
    cancelled: '--warn',
    running: '--accent',
    queued: '--quiet',
  };
  // Jobs of the window, those that run first and then the latest, thirty at most.
  function showWaterfall() {
    const to = now_ms(),
      from = to - span_ms();
    // Jobs that wait are not here: no partition of theirs has moved.
    const rows = [...state.jobs.values()]
      .filter((job) => job.partitions.length && (!job.ended_ms || job.ended_ms > from))
      .sort(
        (a, b) =>
          (a.ended_ms ? 1 : 0) - (b.ended_ms ? 1 : 0) ||
          (b.started_ms || b.accepted_ms) - (a.started_ms || a.accepted_ms),
      )
      .slice(0, 30)
      .map((job) => ({
        job,
        label: job.id,
        tone: tones[job.state],
        note: [
          job.kind,
          job.state,
          ...(job.started_ms ? [duration((job.ended_ms || to) - job.started_ms)] : []),
        ].join(' · '),
        parts: job.partitions.map((part) => ({ index: part.index, spans: spansOf(part, job) })),
      }));
    byId('waterfall-empty').hidden = rows.length > 0;
    byId('waterfall').hidden = rows.length === 0;
    state.boxes = [];
    if (rows.length === 0) return;
    state.boxes = charts.waterfall(byId('waterfall'), rows, from, to, (kind) =>
      charts.colour(`--stage-${kind}`),
    );
    byId('waterfall').setAttribute(
      'aria-label',
      `${plural(rows.length, 'job')} in the last ${duration(to - from)}; the table below has them`,
    );
  }

  // ---- charts ----
  // The samples in view, and the one before them so that lines begin at the edge; thinned out to
  // some hundreds, for more are not to be seen. The last one always stays.
  function windowOf() {
    const to = now_ms(),
      from = to - span_ms();
    const first = state.samples.findIndex((s) => s.t >= from);
    const samples = first < 0 ? [] : state.samples.slice(Math.max(0, first - 1));
    const most = 600,
      step = Math.max(1, Math.ceil(samples.length / most));
    return {
      from,
      to,
      samples: samples.filter((_, i) => i % step === 0 || i === samples.length - 1),
    };
  }
  // Draws a chart and keeps what the pointer needs; `describe` has the words for a sample's number.
  function draw(id, plot, describe) {
    const canvas = byId(id);
    state.hovers.set(canvas, { ...charts.timeChart(canvas, plot), describe });
  }
  // The ledger by category, stacked, with what is resident and the budget as lines over it.
  function showMemory({ from, to, samples }) {
    const names = state.now.category_names,
      times = samples.map((s) => s.t);
    const stacks = names.map((name, i) => ({
      name,
      colour: charts.colour(`--c${i}`),
      values: samples.map((s) => s.categories[i]),
    }));
    const lines = [
      {
        name: 'resident',
        colour: charts.colour('--ink'),
        width: 1.6,
        values: samples.map((s) => s.rss),
      },
    ];
    if (samples.some((s) => s.budget)) {
      lines.push({
        name: 'budget',
        colour: charts.colour('--bad'),
        width: 1.4,
        dash: [5, 4],
        values: samples.map((s) => s.budget),
      });
    }
    draw(
      'memory-chart',
      { from, to, times, stacks, lines, bars: [], bytes: true, format: bytes },
      (i) =>
        [
          `resident ${bytes(samples[i].rss)}`,
          ...stacks.filter((s) => s.values[i] > 0).map((s) => `${s.name} ${bytes(s.values[i])}`),
        ].join('\n'),
    );
    const memory = state.now.memory;
    text(
      'memory-now',
      memory.total_bytes ? `${bytes(memory.available_bytes)} free of the budget` : 'no budget set',
    );
    const legend = byId('memory-legend');
    legend.replaceChildren(
      ...lines.map((line) =>
        entry(line.colour, line.name, bytes(line.values[line.values.length - 1] || 0), true),
      ),
      ...stacks
        .filter((s) => s.values.some((v) => v > 0))
        .map((s) => entry(s.colour, s.name, bytes(memory.by_category[s.name] || 0))),
    );
  }
  // One entry of a legend.
  function entry(colour, name, value, line) {
    const made = node('span'),
      mark = node('i', line ? 'line' : '');
    mark.style.background = colour;
    made.append(mark, node('span', '', name));
    if (value !== undefined) made.append(node('b', '', value));
    return made;
  }
  // Bars of what ended in each step of time, from differences of the daemon's totals. Steps stand
  // at multiples of their width, so that bars do not wander while time goes on.
  function showThroughput({ from, to }) {
    // Some thirty steps, of whole seconds.
    const width_ms = Math.max(2000, Math.round(span_ms() / 30000) * 1000),
      begin = Math.floor(from / width_ms) * width_ms;
    const times = [],
      values = [],
      failed = [];
    for (let t = begin; t < to; t += width_ms) {
      times.push(t);
      values.push(0);
      failed.push(0);
    }
    for (let i = 1; i < state.samples.length; i++) {
      const bucket = Math.floor((state.samples[i].t - begin) / width_ms);
      if (bucket < 0 || bucket >= times.length) continue;
      values[bucket] += Math.max(0, state.samples[i].completed - state.samples[i - 1].completed);
      failed[bucket] += Math.max(0, state.samples[i].failed - state.samples[i - 1].failed);
    }
    const bars = [
      { colour: charts.colour('--good'), values },
      { colour: charts.colour('--bad'), values: failed },
    ];
    draw(
      'throughput-chart',
      { from, to, times, stacks: [], lines: [], bars, format: count, least: 4 },
      (i) =>
        [`in ${duration(width_ms)}`, `${values[i] || 0} proved`, `${failed[i] || 0} failed`].join(
          '\n',
        ),
    );
    text('throughput-now', `${rate(1).toFixed(1)} a minute now`);
  }
  // Two charts over one time: jobs that wait and run, and workers that are busy.
  function showQueue({ from, to, samples }) {
    const times = samples.map((s) => s.t);
    draw(
      'queue-chart',
      {
        from,
        to,
        times,
        stacks: [],
        bars: [],
        format: count,
        least: 4,
        lines: [
          { colour: charts.colour('--warn'), fill: true, values: samples.map((s) => s.pending) },
          { colour: charts.colour('--accent'), values: samples.map((s) => s.running) },
        ],
      },
      (i) => `${samples[i].pending} queued\n${samples[i].running} running`,
    );
    text('queue-now', `${count(total('pending'))} queued, ${count(total('in_progress'))} running`);
    draw(
      'load-chart',
      {
        from,
        to,
        times,
        stacks: [],
        bars: [],
        format: count,
        least: Math.max(4, ...samples.map((s) => s.workers)),
        lines: [
          {
            colour: charts.colour('--stage-device'),
            fill: true,
            values: samples.map((s) => s.busy),
          },
          {
            colour: charts.colour('--quiet'),
            width: 1,
            dash: [4, 4],
            values: samples.map((s) => s.workers),
          },
        ],
      },
      (i) => `${samples[i].busy} of ${samples[i].workers} workers busy`,
    );
    const busy = state.now.devices.reduce((sum, d) => sum + d.busy, 0),
      workers = state.now.devices.reduce((sum, d) => sum + d.workers, 0);
    text('load-now', `${busy} of ${workers} busy`);
  }

  // ---- lists ----
  // Devices with a square a worker, and the keys in memory.
  function showDevices() {
    byId('devices').replaceChildren(
      ...state.now.devices.map((device) => {
        const box = node('div', 'device'),
          head = node('div', 'device-head'),
          slots = node('div', 'slots');
        const word = !device.usable
          ? ['out of use', 'bad']
          : device.busy
            ? ['proving', 'accent']
            : device.fallback_only
              ? ['stand-by', '']
              : ['idle', ''];
        head.append(node('b', '', device.name), node('span', `pill ${word[1]}`, word[0]));
        for (let i = 0; i < device.workers; i++)
          slots.append(node('i', i < device.busy ? 'busy' : ''));
        const facts = [
          `${plural(device.started, 'partition')}`,
          `busy ${duration(device.busy_s * 1000)}`,
        ];
        if (device.total_bytes)
          facts.push(`${bytes(device.free_bytes)} of ${bytes(device.total_bytes)} free`);
        if (device.streamed_bytes)
          facts.push(
            `${bytes(device.streamed_bytes)} of keys copied, ${bytes(device.shared_bytes)} shared`,
          );
        if (device.failures) facts.push(plural(device.failures, 'failure'));
        if (device.wrong_proofs) facts.push(plural(device.wrong_proofs, 'wrong proof'));
        box.append(head, slots, node('span', 'quiet', facts.join(' · ')));
        return box;
      }),
    );
    text('restarts', state.now.restarts ? `proving process restarted ${state.now.restarts}×` : '');
    const loaded = state.now.keys.filter((key) => key.tier !== 'cold');
    byId('keys').replaceChildren(
      ...loaded.map((key) => {
        const row = node('div', 'key'),
          end = node(
            'span',
            'quiet',
            `${bytes(key.bytes)} · ${key.references ? plural(key.references, 'user') : 'idle'} `,
          );
        end.append(node('span', `pill ${key.tier === 'hot' ? 'accent' : ''}`, key.tier));
        row.append(node('b', '', key.name), end);
        return row;
      }),
    );
    if (!loaded.length)
      byId('keys').append(
        node('p', 'quiet', 'None is loaded; a key is loaded when it is first needed.'),
      );
  }
  // The table of jobs, those that run first, then the latest that ended, then who waits; and the
  // failures with their sentences.
  function showRecent() {
    const begun = [...state.jobs.values()].sort(
      (a, b) =>
        (a.ended_ms ? 1 : 0) - (b.ended_ms ? 1 : 0) ||
        b.ended_ms - a.ended_ms ||
        b.started_ms - a.started_ms,
    );
    const jobs = [...begun, ...state.queued];
    const pills = {
      completed: 'good',
      failed: 'bad',
      cancelled: 'warn',
      running: 'accent',
      queued: '',
    };
    byId('recent').replaceChildren(
      ...jobs.slice(0, 12).map((job) => {
        const row = node('tr'),
          id = node('td', '', job.id),
          cell = node('td');
        id.title = job.id;
        cell.append(node('span', `pill ${pills[job.state]}`, job.state));
        const parts = job.partitions.length,
          ran = job.started_ms > 0,
          done = job.partitions.filter(
            (p) => p.spans.length && p.spans[p.spans.length - 1][0] === 6,
          ).length;
        row.append(
          id,
          node('td', 'spare', job.kind),
          cell,
          node('td', 'number', parts ? `${done} / ${parts}` : '–'),
          node(
            'td',
            'number spare',
            job.accepted_ms
              ? duration((ran ? job.started_ms : job.ended_ms || now_ms()) - job.accepted_ms)
              : '–',
          ),
          node('td', 'number', ran ? duration((job.ended_ms || now_ms()) - job.started_ms) : '–'),
        );
        return row;
      }),
    );
    text('recent-note', state.queuedCount > 12 ? `${count(state.queuedCount)} wait` : '');
    const failed = [...state.jobs.values()]
      .filter((job) => job.state === 'failed')
      .sort((a, b) => b.ended_ms - a.ended_ms);
    byId('errors').replaceChildren(
      ...failed.slice(0, 20).map((job) => {
        const item = node('li');
        item.append(
          node('b', '', job.id),
          node('span', '', job.error || 'the reason is not kept'),
          node('div', 'quiet', `${charts.clock(job.ended_ms, true)} · ${job.kind}`),
        );
        return item;
      }),
    );
    byId('errors-empty').hidden = failed.length > 0;
    text('errors-note', failed.length ? `${failed.length} of the latest ${ended_max} jobs` : '');
  }

  // Everything anew. Some milliseconds, once a second and when the reader asks for another view.
  function show() {
    if (!state.now) return;
    showHeader();
    showTiles();
    showWaterfall();
    const span = windowOf();
    if (span.samples.length > 0) {
      showMemory(span);
      showThroughput(span);
      showQueue(span);
    }
    showDevices();
    showRecent();
  }

  // ---- pointer ----
  const tip = byId('tip');
  // Beside the pointer, moved so that it stays on the screen.
  function showTip(event, words) {
    tip.textContent = words;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - box.width - 8)}px`;
    const below = event.clientY + 18,
      above = event.clientY - box.height - 10;
    const fits = below + box.height <= window.innerHeight;
    tip.style.top = `${Math.max(4, fits ? below : above)}px`;
  }
  // Boxes lie side by side, so the first that fits is the one; a pixel around helps with the thin
  // ones.
  byId('waterfall').addEventListener('pointermove', (event) => {
    const at = event.target.getBoundingClientRect(),
      x = event.clientX - at.left,
      y = event.clientY - at.top;
    const box = state.boxes.find(
      (b) => x >= b.x0 - 1 && x <= b.x1 + 1 && y >= b.y0 - 1 && y <= b.y1 + 1,
    );
    if (!box) {
      tip.hidden = true;
      return;
    }
    const { row, part, span } = box,
      device = state.now.devices[span.device];
    const lines = [
      row.label,
      `partition ${part.index}${span.attempt > 1 ? `, attempt ${span.attempt}` : ''}`,
      `${stages[span.stage]} for ${duration(span.to - span.from)}`,
    ];
    if (span.kind === 'device' && device) lines.push(`on ${device.name}`);
    showTip(event, lines.join('\n'));
  });
  for (const id of ['memory-chart', 'throughput-chart', 'queue-chart', 'load-chart']) {
    byId(id).addEventListener('pointermove', (event) => {
      const hover = state.hovers.get(event.target);
      if (!hover || !hover.plot.times.length) return;
      const x = event.clientX - event.target.getBoundingClientRect().left,
        times = hover.plot.times;
      // The nearest time, wherever between two samples the pointer is.
      let best = 0;
      for (let i = 1; i < times.length; i++)
        if (Math.abs(hover.x(times[i]) - x) < Math.abs(hover.x(times[best]) - x)) best = i;
      showTip(event, `${charts.clock(times[best], true)}\n${hover.describe(best)}`);
    });
  }
  // All charts share one tip.
  document.addEventListener('pointerout', (event) => {
    if (event.target.tagName === 'CANVAS') tip.hidden = true;
  });

  // ---- controls ----
  byId('range').addEventListener('click', (event) => {
    const minutes = Number(event.target.dataset.minutes);
    if (!minutes) return;
    state.range_ms = minutes * 60000;
    for (const button of byId('range').children)
      button.classList.toggle('chosen', button === event.target);
    show();
  });
  // The reader's choice counts before what the system prefers.
  const root = document.documentElement;
  // The browser may forbid its stores; then nothing is remembered and all else works. The token is
  // kept for this tab alone.
  function remembered(store, name) {
    try {
      return store.getItem(name);
    } catch {
      return null;
    }
  }
  function remember(store, name, value) {
    try {
      store.setItem(name, value);
    } catch {
      /* private mode */
    }
  }
  if (remembered(localStorage, 'theme')) root.dataset.theme = remembered(localStorage, 'theme');
  // From what is shown, chosen or not, to the other one; it is remembered for all pages of this
  // daemon.
  byId('theme').addEventListener('click', () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    remember(localStorage, 'theme', root.dataset.theme);
    show();
  });
  byId('login').addEventListener('submit', (event) => {
    event.preventDefault();
    remember(sessionStorage, 'token', byId('token').value.trim());
    byId('token').value = '';
    poll();
  });
  byId('stage-legend').replaceChildren(
    ...Object.entries(stageNames).map(([kind, name]) => {
      const made = entry('', name);
      made.firstChild.style.background = `var(--stage-${kind})`;
      return made;
    }),
  );
  window.addEventListener('resize', show);

  // ---- the daemon ----
  let timer = 0;
  // Asks, shows, and plans the next question once this one is answered, however slow that is. A
  // token that is missing or wrong stops it until one is given.
  async function poll() {
    clearTimeout(timer);
    let wait_ms = interval_ms;
    try {
      const token = remembered(sessionStorage, 'token');
      const last = state.samples.length ? state.samples[state.samples.length - 1].t : 0;
      const reply = await fetch(`/api/v1/dashboard?revision=${state.revision}&sample_ms=${last}`, {
        headers: token ? { Authorization: `Bearer ${token}` } : {},
        signal: AbortSignal.timeout(10000),
      });
      // Not known, or not shown: the form comes up and what is on the page stays.
      byId('login').hidden = reply.status !== 401;
      if (reply.status === 401) {
        text('login-error', token ? 'This token is not known here.' : '');
        pill('token needed', 'warn');
        wait_ms = 0;
      } else if (reply.ok) {
        take(await reply.json());
        document.body.classList.remove('stale');
        show();
      } else {
        throw new Error(String(reply.status));
      }
    } catch {
      pill('not connected', 'bad');
      document.body.classList.add('stale');
      wait_ms = retry_ms;
    }
    if (wait_ms) timer = setTimeout(poll, wait_ms);
  }
  poll();
})();

// The course's networks in plain JavaScript, for one sentence and without training. The names are those of the
// package `mha_course`, where the same is written for batches. A vector is a Float64Array (features,), a
// sequence an array of vectors (steps, features). tests/site/test_live.py compares every number with PyTorch's.
(() => {
  const [BOS, EOS, UNK] = [1, 2, 3];
  const MAX_STEPS = 20;

  // Half precision: one bit of sign, five of exponent, ten of fraction.
  function fromHalf(bits) {
    const sign = bits >> 15 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = (bits & 1023) / 1024;
    return exponent ? sign * (1 + fraction) * 2 ** (exponent - 15) : sign * fraction * 2 ** -14;
  }

  // The parameters by their names in PyTorch: {rows, columns, values}; a bias has one column.
  function readParameters({ shapes, weights }) {
    const bytes = atob(weights);
    const parameters = {};
    let place = 0;
    for (const [name, [rows, columns = 1]] of Object.entries(shapes)) {
      const values = new Float32Array(rows * columns);
      for (let i = 0; i < values.length; i += 1, place += 2) {
        values[i] = fromHalf(bytes.charCodeAt(place) | (bytes.charCodeAt(place + 1) << 8));
      }
      parameters[name] = { rows, columns, values };
    }
    return parameters;
  }

  const row = ({ columns, values }, i) => Float64Array.from(values.subarray(i * columns, (i + 1) * columns));

  // W x + b
  function linear(x, W, b) {
    const y = new Float64Array(W.rows);
    for (let i = 0, place = 0; i < W.rows; i += 1) {
      let sum = b ? b.values[i] : 0;
      for (let j = 0; j < W.columns; j += 1, place += 1) sum += W.values[place] * x[j];
      y[i] = sum;
    }
    return y;
  }

  const sigmoid = x => 1 / (1 + Math.exp(-x));
  const add = (x, y) => x.map((value, i) => value + y[i]);
  const join = (x, y) => Float64Array.of(...x, ...y);

  function softmax(scores) {
    const largest = Math.max(...scores);
    const exponentials = scores.map(score => Math.exp(score - largest));
    const sum = exponentials.reduce((total, value) => total + value, 0);
    return exponentials.map(value => value / sum);
  }

  // The mean of the values with these weights.
  function pool(weights, values) {
    const output = new Float64Array(values[0].length);
    values.forEach((value, i) =>
      value.forEach((feature, j) => {
        output[j] += weights[i] * feature;
      }),
    );
    return output;
  }

  const largestOf = numbers => numbers.reduce((best, value, i) => (value > numbers[best] ? i : best), 0);

  // One step of a GRU, as PyTorch writes it: reset gate, update gate, new state.
  function gru(x, h, parameters, name, direction = "") {
    const part = kind => parameters[`${name}.${kind}_l0${direction}`];
    const input = linear(x, part("weight_ih"), part("bias_ih"));
    const hidden = linear(h, part("weight_hh"), part("bias_hh"));
    const n = h.length;
    return h.map((before, i) => {
      const reset = sigmoid(input[i] + hidden[i]);
      const update = sigmoid(input[n + i] + hidden[n + i]);
      const fresh = Math.tanh(input[2 * n + i] + reset * hidden[2 * n + i]);
      return (1 - update) * fresh + update * before;
    });
  }

  // What all networks share: parameters, and the layers that have one name in several networks.
  class Network {
    constructor(stored) {
      this.parameters = readParameters(stored);
      this.numHeads = stored.num_heads;
    }

    // Keeps the output of a module under its name in PyTorch (its input as `name.input`), one row a token, while
    // `trace` wants it.
    note(name, row) {
      if (this.rows) (this.rows[name] ??= []).push(row);
      return row;
    }

    // What `compute` returns, with all its `rows`: for each name one row a token, of attention's scores and weights
    // (heads, keys).
    traced(compute) {
      this.rows = {};
      const result = compute();
      const { rows } = this;
      this.rows = null;
      return { ...result, rows };
    }

    linear(x, name) {
      return this.note(name, linear(x, this.parameters[`${name}.weight`], this.parameters[`${name}.bias`]));
    }

    norm(x, name) {
      this.note(`${name}.input`, x);
      const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
      const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
      const [scale, shift] = [
        this.parameters[`${name}.weight`].values,
        this.parameters[`${name}.bias`].values,
      ];
      return this.note(
        name,
        x.map((value, i) => ((value - mean) / Math.sqrt(variance + 1e-5)) * scale[i] + shift[i]),
      );
    }

    ffn(x, name) {
      const hidden = this.note(
        `${name}.1`,
        this.linear(x, `${name}.0`).map(value => Math.max(value, 0)),
      );
      return this.linear(hidden, `${name}.2`);
    }

    project(sequence, name) {
      return {
        keys: sequence.map(x => this.linear(x, `${name}.W_k`)),
        values: sequence.map(x => this.linear(x, `${name}.W_v`)),
      };
    }

    // One query, all heads: the output (num_hiddens,) and the weights (heads, keys).
    attend(query, { keys, values }, name, options = {}) {
      const size = query.length / this.numHeads;
      const joined = new Float64Array(query.length);
      const scores = []; // before they are divided by the root of the size
      const weights = [];
      for (let head = 0; head < this.numHeads; head += 1) {
        const start = head * size;
        const own = vector => vector.subarray(start, start + size);
        const asked = own(query);
        scores.push(
          keys.map(key => {
            const k = own(key);
            return asked.reduce((sum, value, i) => sum + value * k[i], 0);
          }),
        );
        weights.push(softmax(scores[head].map(score => score / Math.sqrt(size))));
        if (!options.off?.has(`${name} ${head}`)) joined.set(pool(weights[head], values.map(own)), start);
      }
      this.note(`${name}.scores`, scores);
      this.note(`${name}.weights`, weights);
      return { output: this.linear(this.note(`${name}.W_o.input`, joined), `${name}.W_o`), weights };
    }
  }

  // What the translating networks share: vocabularies, greedy translation.
  class EncoderDecoder extends Network {
    constructor(stored) {
      super(stored);
      this.words = { source: stored.source, target: stored.target };
      this.ids = new Map(stored.source.map((word, id) => [word, id]));
    }

    knows(word) {
      return this.ids.get(word) > UNK; // the special tokens are no words
    }

    // Always the most probable token, until <eos>. Returns what each step knew, <eos> included.
    translate(tokens, options = {}) {
      const ids = [...tokens.map(token => this.ids.get(token) ?? UNK), EOS];
      let state = this.initState(ids, options);
      let token = BOS;
      const steps = [];
      while (steps.length < MAX_STEPS && (steps.length === 0 || token !== EOS)) {
        const step = this.step(token, state, options);
        token = largestOf(step.logits);
        state = step.state;
        steps.push({ ...step, token: this.words.target[token], ended: token === EOS });
      }
      return {
        steps,
        source: [...tokens, "<eos>"],
        tokens: steps.filter(step => !step.ended).map(step => step.token),
      };
    }

    // The tokens that could come next, the most probable first.
    best(logits, count) {
      const probabilities = softmax(logits);
      const order = [...probabilities.keys()].sort((a, b) => probabilities[b] - probabilities[a]);
      return order
        .slice(0, count)
        .map(id => ({ token: this.words.target[id], probability: probabilities[id] }));
    }
  }

  // Seq2SeqEncoder in two directions, and Seq2SeqAttentionDecoder with additive attention that starts from zeros.
  class Bahdanau extends EncoderDecoder {
    encode(ids) {
      const { parameters } = this;
      const embedded = ids.map(id => row(parameters["encoder.embedding.weight"], id));
      const width = parameters["encoder.rnn.weight_hh_l0"].columns;
      const read = (sequence, direction) => {
        let h = new Float64Array(width);
        return sequence.map(x => {
          h = gru(x, h, parameters, "encoder.rnn", direction);
          return h;
        });
      };
      const forward = read(embedded, "");
      const backward = read([...embedded].reverse(), "_reverse").reverse();
      return forward.map((h, i) => join(h, backward[i])); // (source steps, num_hiddens)
    }

    initState(ids) {
      const encOutputs = this.encode(ids);
      const W_k = this.parameters["decoder.attention.W_k.weight"];
      const keys = encOutputs.map(output => linear(output, W_k)); // projected once a sentence
      return { encOutputs, keys, hidden: new Float64Array(encOutputs[0].length) };
    }

    step(token, { encOutputs, keys, hidden }) {
      const { parameters } = this;
      const query = linear(hidden, parameters["decoder.attention.W_q.weight"]);
      const w_v = parameters["decoder.attention.w_v.weight"].values;
      const scores = keys.map(key =>
        key.reduce((sum, value, i) => sum + w_v[i] * Math.tanh(query[i] + value), 0),
      );
      const weights = softmax(scores); // (source steps,)
      const context = pool(weights, encOutputs); // (num_hiddens,)
      const input = join(context, row(parameters["decoder.embedding.weight"], token));
      const h = gru(input, hidden, parameters, "decoder.rnn");
      const logits = linear(h, parameters["decoder.dense.weight"], parameters["decoder.dense.bias"]);
      return { scores, weights, context, logits, state: { encOutputs, keys, hidden: h } };
    }
  }

  // The Transformer with a key-value cache. `options.off` is a set of heads such as "encoder.blocks.0.attention 3",
  // whose output counts as 0; `options.positions === false` leaves the positions out.
  class Transformer extends EncoderDecoder {
    constructor(stored) {
      super(stored);
      const blocks = Object.keys(stored.shapes).filter(name =>
        /^encoder\.blocks\.\d+\.norm_1\.weight$/.test(name),
      );
      this.numLayers = blocks.length;
    }

    get modules() {
      const layers = [...Array(this.numLayers).keys()];
      const names = kind => layers.map(layer => `${kind.replace(".", `.blocks.${layer}.`)}`);
      return {
        encoder: names("encoder.attention"),
        self: names("decoder.self_attention"),
        cross: names("decoder.cross_attention"),
      };
    }

    embed(id, position, side, options) {
      const x = this.note(`${side}.embedding`, row(this.parameters[`${side}.embedding.weight`], id));
      if (options.positions === false) return x;
      return this.note(
        `${side}.positions`,
        x.map((value, i) => {
          const angle = position / 10000 ** ((i - (i % 2)) / x.length);
          return value + (i % 2 ? Math.cos(angle) : Math.sin(angle));
        }),
      );
    }

    trace(tokens) {
      return this.traced(() => this.translate(tokens));
    }

    initState(ids, options) {
      let sequence = ids.map((id, i) => this.embed(id, i, "encoder", options));
      const maps = {}; // (queries, heads, keys) of each module
      for (let layer = 0; layer < this.numLayers; layer += 1) {
        const block = `encoder.blocks.${layer}`;
        const normed = sequence.map(x => this.norm(x, `${block}.norm_1`));
        const projected = this.project(normed, `${block}.attention`);
        const attended = normed.map(x =>
          this.attend(this.linear(x, `${block}.attention.W_q`), projected, `${block}.attention`, options),
        );
        maps[`${block}.attention`] = attended.map(({ weights }) => weights);
        sequence = sequence.map((x, i) => add(x, attended[i].output));
        sequence = sequence.map(x =>
          this.note(block, add(x, this.ffn(this.norm(x, `${block}.norm_2`), `${block}.ffn`))),
        );
      }
      const outputs = sequence.map(x => this.norm(x, "encoder.norm"));
      const { self, cross } = this.modules;
      return {
        maps,
        memory: cross.map(name => this.project(outputs, name)), // projected once a sentence
        cache: self.map(() => ({ keys: [], values: [] })), // grows by one key and one value a step
      };
    }

    step(token, { maps, memory, cache }, options) {
      const { self, cross } = this.modules;
      let x = this.embed(token, cache[0].keys.length, "decoder", options);
      const weights = {}; // (heads, keys) of each module
      for (let layer = 0; layer < this.numLayers; layer += 1) {
        const block = `decoder.blocks.${layer}`;
        const normed = this.norm(x, `${block}.norm_1`);
        const { keys, values } = this.project([normed], self[layer]);
        cache[layer].keys.push(...keys);
        cache[layer].values.push(...values);
        for (const [name, known, y] of [
          [self[layer], cache[layer], () => normed],
          [cross[layer], memory[layer], () => this.norm(x, `${block}.norm_2`)],
        ]) {
          const attended = this.attend(this.linear(y(), `${name}.W_q`), known, name, options);
          weights[name] = attended.weights;
          x = add(x, attended.output);
        }
        x = this.note(block, add(x, this.ffn(this.norm(x, `${block}.norm_3`), `${block}.ffn`)));
      }
      return {
        weights,
        maps,
        logits: this.linear(this.norm(x, "decoder.norm"), "decoder.dense"),
        state: { maps, memory, cache },
      };
    }
  }

  // The decoder-only model. It has no source, and positions turn its queries and keys.
  class LanguageModel extends Network {
    constructor(stored) {
      super(stored);
      this.words = stored.target;
      this.ids = new Map(stored.target.map((word, id) => [word, id]));
      this.numLayers = Object.keys(stored.shapes).filter(name =>
        /^blocks\.\d+\.norm_1\.weight$/.test(name),
      ).length;
    }

    // Features j and j + d/2 of each head, turned by the angle position / 10000^(2j/d).
    rotary(x, position) {
      const half = x.length / this.numHeads / 2;
      return x.map((value, i) => {
        const j = i % (2 * half);
        const angle = position / 10000 ** ((j % half) / half);
        const partner = j < half ? -x[i + half] : x[i - half];
        return value * Math.cos(angle) + partner * Math.sin(angle);
      });
    }

    // The logits after each token, (steps, vocab_size). A few milliseconds for a sentence: it needs no cache.
    forward(ids) {
      let sequence = ids.map(id => this.note("embedding", row(this.parameters["embedding.weight"], id)));
      for (let layer = 0; layer < this.numLayers; layer += 1) {
        const block = `blocks.${layer}`;
        const name = `${block}.attention`;
        const normed = sequence.map(x => this.norm(x, `${block}.norm_1`));
        const queries = normed.map((x, i) =>
          this.note(`${name}.queries`, this.rotary(this.linear(x, `${name}.W_q`), i)),
        );
        const projected = this.project(normed, name);
        const keys = projected.keys.map((key, i) => this.note(`${name}.keys`, this.rotary(key, i)));
        const before = i => ({ keys: keys.slice(0, i + 1), values: projected.values.slice(0, i + 1) }); // causal
        sequence = sequence.map((x, i) => add(x, this.attend(queries[i], before(i), name).output));
        sequence = sequence.map(x =>
          this.note(block, add(x, this.ffn(this.norm(x, `${block}.norm_2`), `${block}.ffn`))),
        );
      }
      return sequence.map(x => this.linear(this.norm(x, "norm"), "dense"));
    }

    trace(ids) {
      return this.traced(() => ({ logits: this.forward(ids) }));
    }
  }

  const byValue = numbers => [...numbers.keys()].sort((a, b) => numbers[b] - numbers[a]); // of equals, the first first

  // The probabilities to draw the next token with: 0 for what temperature 0 or top-p leaves out.
  function nextTokenProbabilities(logits, { temperature = 1, topP = 1 } = {}) {
    const kept = new Float64Array(logits.length);
    if (temperature === 0) {
      kept[largestOf(logits)] = 1;
      return kept;
    }
    const probabilities = softmax(logits.map(logit => logit / temperature));
    if (topP === 1) return probabilities;
    let above = 0; // what the more probable tokens have together
    for (const id of byValue(probabilities)) {
      if (above > 0 && above >= topP) break;
      kept[id] = probabilities[id];
      above += probabilities[id];
    }
    return kept.map(probability => probability / above);
  }

  Object.assign(courseLive, {
    Bahdanau,
    Transformer,
    LanguageModel,
    nextTokenProbabilities,
    byValue,
    softmax,
    pool,
    BOS,
    EOS,
    UNK,
    MAX_STEPS,
  });
})();

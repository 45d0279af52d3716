// Runs the networks of the site's pages in Node. Reads a request from standard input: `scripts`, files to load;
// `kind` and `name` of a network; `runs`, each a list of sentences and options. Writes for each sentence the
// tokens and the attention weights, which a Transformer has for each module whose name holds `options.watch`;
// where `options.trace` names a file, all intermediate rows are appended to it as float32, and `counts` has for
// each name the numbers of each row;
// of a language model the logits after <bos> and each token, and the probabilities to draw the next one with.
const { appendFileSync, readFileSync } = require("node:fs");
const vm = require("node:vm");

const request = JSON.parse(readFileSync(0, "utf8"));
globalThis.courseLive = {
  stored: {},
  store(name, content) {
    this.stored[name] = content;
  },
};
for (const file of request.scripts) vm.runInThisContext(readFileSync(file, "utf8"), file);
const model = new courseLive[request.kind](courseLive.stored[request.name]);

const plain = numbers => (numbers.length === undefined ? numbers : Array.from(numbers, plain));
const perModule = (steps, watch) =>
  Object.fromEntries(
    [
      ...Object.entries(steps[0].maps),
      ...Object.keys(steps[0].weights).map(name => [name, steps.map(step => step.weights[name])]),
    ]
      .filter(([name]) => name.includes(watch))
      .map(([name, map]) => [name, plain(map)]),
  );

// Appends all numbers to a file; returns how many each row of each name has.
function written(rows, file) {
  const numbers = Object.values(rows).map(own => own.map(row => Array.from(row, plain).flat()));
  appendFileSync(file, new Uint8Array(Float32Array.from(numbers.flat(2)).buffer));
  const counts = numbers.map(own => own.map(row => row.length));
  return Object.fromEntries(Object.keys(rows).map((name, i) => [name, counts[i]]));
}

function result(sentence, options) {
  if (request.kind === "LanguageModel") {
    const ids = [courseLive.BOS, ...sentence.map(token => model.ids.get(token))];
    if (options.trace) return { counts: written(model.trace(ids).rows, options.trace) };
    const logits = model.forward(ids);
    return {
      logits: plain(logits),
      probabilities: plain(courseLive.nextTokenProbabilities(logits.at(-1), options)),
    };
  }
  if (options.trace) {
    const { rows, tokens } = model.trace(sentence);
    return { tokens, counts: written(rows, options.trace) };
  }
  const { steps, tokens } = model.translate(sentence, { ...options, off: new Set(options.off) });
  const weights =
    request.kind === "Transformer" ? perModule(steps, options.watch) : steps.map(step => plain(step.weights));
  const surest = step => model.best(step.logits, 1)[0].probability;
  const least = request.kind === "Bahdanau" ? Math.min(...steps.map(surest)) : null; // the token that it was least sure of
  return { tokens, weights, least };
}

const started = process.hrtime.bigint();
const results = request.runs.map(({ sentences, options }) =>
  sentences.map(sentence => result(sentence, options)),
);
const milliseconds = Number(process.hrtime.bigint() - started) / 1e6;
process.stdout.write(JSON.stringify({ results, milliseconds }));

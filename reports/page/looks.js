// A solver's colour is that of its kind of method and follows from its name alone, so that it is the same in every
// report. A configuration with options of its own, or a solver from outside, has one by the hash of its label. Solvers
// of one colour in a report differ by their dashes.
const colours = 10; // --series-0 … of the style
const kinds = [
  ["CASCADE"],
  ["NSGS", "NBGS"],
  ["ADMM"],
  ["APGD", "FP", "VI"],
  ["PROX", "PPA", "ACLM"],
  ["LEMKE"],
  ["NSN", "SSN", "NEWTON"],
  ["PGS"],
  ["RAISIM", "STAGGERED"],
  ["IPM", "IPOPT"],
];
function kindOf(label) {
  const name = label.replace(/^SICONOS-/, "");
  return kinds.findIndex((heads) => heads.some((head) => new RegExp(`^${head}(-[A-Z0-9]+)*$`).test(name)));
}
function nameColour(label) {
  const kind = kindOf(label);
  if (kind >= 0) return kind;
  let hash = 2166136261; // FNV-1a
  for (const letter of label) hash = Math.imul(hash ^ letter.codePointAt(0), 16777619) >>> 0;
  return (hash >>> 8) % colours;
}
const dashes = ["", "7 3", "2 3", "9 3 2 3", "14 3", "9 3 2 3 2 3", "1 2", "4 2 4 5"];
// {colour, dash} of each label. Solvers with the colour of their kind come first, so that these have solid lines.
function looksOf(labels) {
  const looks = [];
  const timesUsed = new Map();
  for (const wanted of [true, false]) {
    labels.forEach((label, s) => {
      if (kindOf(label) >= 0 !== wanted) return;
      const colour = nameColour(label);
      const before = timesUsed.get(colour) ?? 0;
      timesUsed.set(colour, before + 1);
      looks[s] = { colour: `var(--series-${colour})`, dash: dashes[before % dashes.length] };
    });
  }
  return looks;
}

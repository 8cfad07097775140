//! What two sequences have in common.

/// The longest common subsequence of two lists, as pairs of indices; for long lists only their common beginning and end.
pub fn common<A, B>(old: &[A], new: &[B], same: impl Fn(&A, &B) -> bool) -> Vec<(usize, usize)> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| same(a, b)).count();
    let rest = old[prefix..].iter().rev().zip(new[prefix..].iter().rev());
    let suffix = rest.take_while(|(a, b)| same(a, b)).count();
    let (old_middle, new_middle) = (&old[prefix..old.len() - suffix], &new[prefix..new.len() - suffix]);
    let mut pairs: Vec<(usize, usize)> = (0..prefix).map(|i| (i, i)).collect();
    let (n, m) = (old_middle.len(), new_middle.len());
    if n * m <= 4096 {
        let mut length = vec![vec![0u16; m + 1]; n + 1];
        for i in (0..n).rev() {
            for j in (0..m).rev() {
                length[i][j] = if same(&old_middle[i], &new_middle[j]) {
                    length[i + 1][j + 1] + 1
                } else {
                    length[i + 1][j].max(length[i][j + 1])
                };
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < n && j < m {
            if same(&old_middle[i], &new_middle[j]) {
                pairs.push((prefix + i, prefix + j));
                (i, j) = (i + 1, j + 1);
            } else if length[i + 1][j] >= length[i][j + 1] {
                i += 1;
            } else {
                j += 1;
            }
        }
    }
    pairs.extend((0..suffix).map(|k| (old.len() - suffix + k, new.len() - suffix + k)));
    pairs
}

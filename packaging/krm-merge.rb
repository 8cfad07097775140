class KrmMerge < Formula
  desc "Merges Kubernetes YAML by field, and keeps every other byte"
  homepage "https://github.com/krm-merge/krm-merge"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/krm-merge/krm-merge/releases/download/v@VERSION@/kubectl-krm_merge-darwin-arm64.tar.gz"
      sha256 "@kubectl-krm_merge-darwin-arm64.tar.gz@"
    end
    on_intel do
      url "https://github.com/krm-merge/krm-merge/releases/download/v@VERSION@/kubectl-krm_merge-darwin-amd64.tar.gz"
      sha256 "@kubectl-krm_merge-darwin-amd64.tar.gz@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/krm-merge/krm-merge/releases/download/v@VERSION@/kubectl-krm_merge-linux-arm64.tar.gz"
      sha256 "@kubectl-krm_merge-linux-arm64.tar.gz@"
    end
    on_intel do
      url "https://github.com/krm-merge/krm-merge/releases/download/v@VERSION@/kubectl-krm_merge-linux-amd64.tar.gz"
      sha256 "@kubectl-krm_merge-linux-amd64.tar.gz@"
    end
  end

  def install
    bin.install "kubectl-krm_merge", "krm-merge", "completions/kubectl_complete-krm_merge"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/kubectl-krm_merge.bash" => "kubectl-krm_merge"
    fish_completion.install "completions/kubectl-krm_merge.fish"
    zsh_completion.install "completions/kubectl-krm_merge.zsh" => "_kubectl-krm_merge"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/kubectl-krm_merge --version")
  end
end

class KrmMerge < Formula
  desc "Merges Kubernetes YAML by field, and keeps every other byte"
  homepage "https://github.com/krm-merge/krm-merge"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/krm-merge/krm-merge/releases/download/v@VERSION@/krm-merge-darwin-arm64.tar.gz"
      sha256 "@krm-merge-darwin-arm64.tar.gz@"
    end
    on_intel do
      url "https://github.com/krm-merge/krm-merge/releases/download/v@VERSION@/krm-merge-darwin-amd64.tar.gz"
      sha256 "@krm-merge-darwin-amd64.tar.gz@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/krm-merge/krm-merge/releases/download/v@VERSION@/krm-merge-linux-arm64.tar.gz"
      sha256 "@krm-merge-linux-arm64.tar.gz@"
    end
    on_intel do
      url "https://github.com/krm-merge/krm-merge/releases/download/v@VERSION@/krm-merge-linux-amd64.tar.gz"
      sha256 "@krm-merge-linux-amd64.tar.gz@"
    end
  end

  def install
    bin.install "krm-merge", "completions/kubectl_complete-krm_merge"
    bin.install_symlink bin/"krm-merge" => "kubectl-krm_merge"
    man1.install Dir["man/*.1"]
    ["krm-merge", "kubectl-krm_merge"].each do |program|
      bash_completion.install "completions/#{program}.bash" => program
      fish_completion.install "completions/#{program}.fish"
      zsh_completion.install "completions/#{program}.zsh" => "_#{program}"
    end
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/krm-merge --version")
    assert_match version.to_s, shell_output("#{bin}/kubectl-krm_merge --version")
  end
end
